// Prints what markdownlint finds in the files that are named, with all of its rules: node markdownlint.mjs LIBRARY FILE...
import { pathToFileURL } from "node:url";

const [library, ...files] = process.argv.slice(2);
const { lint } = await import(pathToFileURL(`${library}/lib/exports-sync.mjs`));
for (const [file, problems] of Object.entries(lint({ files }))) {
  for (const one of problems) {
    console.log(`${file}:${one.lineNumber} ${one.ruleNames.join("/")} ${one.errorDetail ?? ""} ${one.errorContext ?? ""}`);
  }
}
