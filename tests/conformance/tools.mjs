// tools.mjs PACKAGE CALLS: has the tools of the reference do what each line of CALLS says, {cwd, name, arguments}, in
// their order, and prints what came of each, {isError, content}.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , packageDir, file] = process.argv;
const pi = await import(pathToFileURL(`${packageDir}/dist/index.js`).href);
const make = { read: pi.createReadTool, write: pi.createWriteTool, edit: pi.createEditTool };
for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
	const { cwd, name, arguments: given } = JSON.parse(line);
	let answer;
	try {
		const { content } = await make[name](cwd).execute("id", structuredClone(given));
		answer = { isError: false, content };
	} catch (error) {
		answer = { isError: true, content: [{ type: "text", text: String(error.message) }] };
	}
	console.log(JSON.stringify(answer));
}
