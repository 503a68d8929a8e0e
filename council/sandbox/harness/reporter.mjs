// Says in lines of JSON what became of each test. The runner's process loads this, and not those of the tests.
import { readFileSync } from "node:fs";

const secret = readFileSync(0, "utf8");

export default async function* report(source) {
  for await (const { type, data } of source) {
    if (type === "test:pass" || type === "test:fail") {
      const { name, file, skip, todo, details } = data;
      const error = details?.error?.cause?.stack ?? details?.error?.message;
      yield JSON.stringify({ secret, type, name, file, skip, todo, kind: details?.type, error }) + "\n";
    } else if (type === "test:stderr") {
      yield JSON.stringify({ secret, type, name: "", file: data.file, error: data.message }) + "\n";
    }
  }
}
