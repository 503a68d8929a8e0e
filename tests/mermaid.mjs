// node mermaid.mjs FOLDER FILE…: whether Mermaid itself reads the files. FOLDER is where `npm i mermaid jsdom` was run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const from = (path) => import(pathToFileURL(join(folder, "node_modules", path)));
const { default: jsdom } = await from("jsdom/lib/api.js");
globalThis.window = new jsdom.JSDOM("").window;
globalThis.document = window.document;
const { default: mermaid } = await from("mermaid/dist/mermaid.core.mjs");
for (const file of files) {
  try {
    const { diagramType } = await mermaid.parse(readFileSync(file, "utf8"));
    console.log(`${file}: ${diagramType}`);
  } catch (wrong) {
    console.log(`${file}: ${wrong.message}`);
    process.exitCode = 1;
  }
}
