// Runs lines in a sandbox that is an npm package, for BenchmarkPeers. Standard
// input is the files and the cases as one JSON document; a line of JSON goes
// out for each case: what it printed and the least CPU time of a run.
//
//	node peer.mjs just-bash|bashkit FOLDER, where FOLDER holds node_modules
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [which, folder] = process.argv.slice(2);
const { files, cases, budget } = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(join(folder, "x.js"));
const packages = {
	"just-bash": ["just-bash", (Bash) => {
		const shell = new Bash({ files });
		return (line) => shell.exec(line);
	}],
	// Its sessions end after a number of commands: each case has its own.
	bashkit: ["@everruns/bashkit", (Bash) => {
		const shell = new Bash({ files, maxCommands: 1e7, maxLoopIterations: 1e7, maxTotalLoopIterations: 1e7, timeoutMs: 60000 });
		return (line) => shell.execute(line);
	}],
};
const [name, open] = packages[which];
// Of a package that is there in both forms the module is what its users get.
const entry = require.resolve(name).replace(/\.cjs$/, ".js");
const loaded = await import(pathToFileURL(entry));
const Bash = loaded.Bash ?? loaded.default.Bash;
const cpu = () => {
	const u = process.cpuUsage();
	return u.user + u.system;
};
for (const { line, setup } of cases) {
	const answer = { out: "", micros: 0 };
	try {
		const begin = async () => {
			const shell = open(Bash);
			if (setup) await shell(setup);
			return shell;
		};
		let run = await begin();
		answer.out = (await run(line)).stdout;
		const end = performance.now() + budget;
		for (let n = 0; n === 0 || (n < 50 && performance.now() < end); n++) {
			const start = cpu();
			const result = await run(line);
			const took = cpu() - start;
			if (result.stdout !== answer.out) run = await begin(); // it has ended, and answers nothing
			else if (answer.micros === 0 || took < answer.micros) answer.micros = took;
		}
	} catch (e) {
		answer.error = String(e?.message ?? e).slice(0, 200);
	}
	console.log(JSON.stringify(answer));
}
process.exit(0);
