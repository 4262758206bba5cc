// Drives donax with the TypeScript SDK.
//
//   node sdk.mjs GENERATION ERA stdio COMMAND ARG...
//   node sdk.mjs GENERATION ERA http URL TOKEN
//
// GENERATION is 1 (@modelcontextprotocol/sdk) or 2 (@modelcontextprotocol/client);
// ERA is legacy, or for generation 2 also modern or auto. Prints a line for each
// check; the exit status is 1 when one fails.

const [generation, era, kind, ...where] = process.argv.slice(2);
const person = { answer: 'accept', asked: 0 };
const answer = async () => { person.asked++; return { action: person.answer, content: {} }; };

async function load() {
  if (generation === '1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    return {
      Client, StdioClientTransport, StreamableHTTPClientTransport, options: {},
      listen: (client) => client.setRequestHandler(ElicitRequestSchema, answer),
      call: (client, params, options) => client.callTool(params, undefined, options),
    };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return {
    Client, StdioClientTransport, StreamableHTTPClientTransport,
    options: { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era } },
    listen: (client) => client.setRequestHandler('elicitation/create', answer),
    call: (client, params, options) => client.callTool(params, options),
  };
}

let failed = false;
async function check(name, run) {
  try {
    await run();
    console.log('ok ' + name);
  } catch (e) {
    failed = true;
    console.log('not ok ' + name + ': ' + (e?.stack ?? e));
  }
}
function must(condition, ...seen) {
  if (!condition) throw new Error('saw ' + JSON.stringify(seen));
}

const sdk = await load();
const client = new sdk.Client({ name: 'sdk-test', version: '1' }, { capabilities: { elicitation: { form: {} } }, ...sdk.options });
sdk.listen(client);
const transport = kind === 'stdio'
  ? new sdk.StdioClientTransport({ command: where[0], args: where.slice(1), stderr: 'ignore', env: process.env })
  : new sdk.StreamableHTTPClientTransport(new URL(where[0]), { requestInit: { headers: { Authorization: 'Bearer ' + where[1] } } });
const call = async (name, args, options) => sdk.call(client, { name, arguments: args }, options);
const create = async (args) => {
  const r = await call('terminal_create', args);
  must(!r.isError, r);
  return r.structuredContent.terminalId;
};
// run runs a line to its end.
async function run(args, options) {
  const terminalId = await create(args);
  const waited = (await call('terminal_wait_for_exit', { terminalId }, options)).structuredContent;
  const read = (await call('terminal_output', { terminalId })).structuredContent;
  const released = await call('terminal_release', { terminalId });
  must(waited.running === false && released.structuredContent.released === true, waited, released);
  return { exit: waited.exitStatus, output: read.output, read };
}

await check('connect', async () => {
  await client.connect(transport);
  must(client.getServerVersion().name === 'donax', client.getServerVersion());
  must(client.getInstructions().includes('terminal_wait_for_exit'), client.getInstructions());
  if (generation === '2') must(client.getProtocolEra() === (era === 'legacy' ? 'legacy' : 'modern'), client.getProtocolEra());
});
await check('list', async () => {
  const names = (await client.listTools()).tools.map((t) => t.name).join(' ');
  must(names === 'terminal_create terminal_output terminal_wait_for_exit terminal_kill terminal_release', names);
});
await check('run', async () => {
  const r = await run({ command: 'printf "b\\na\\n" | sort; exit 3' });
  must(r.output === 'a\nb\n' && r.exit.exitCode === 3 && r.exit.signal === null, r);
});
await check('argv', async () => {
  const r = await run({ command: 'printf', args: ['%s|', 'a b', '$HOME'] });
  must(r.output === 'a b|$HOME|' && r.exit.exitCode === 0, r);
});
await check('stream', async () => {
  const seen = [];
  const r = await run({ command: 'for i in 1 2 3 4; do echo "tick $i é"; sleep 0.1; done' }, { onprogress: (p) => seen.push(p) });
  must(seen.length >= 2 && seen.every((p, i) => i === 0 || p.progress > seen[i - 1].progress), seen);
  must(seen.map((p) => p.message).join('') === r.output, seen, r.output);
});
await check('cancel', async () => {
  const terminalId = await create({ command: 'sleep 1000' });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 200);
  let error;
  try {
    await call('terminal_wait_for_exit', { terminalId }, { signal: stop.signal });
  } catch (e) { error = e; }
  must(error !== undefined);
  const r = (await call('terminal_output', { terminalId })).structuredContent;
  must(r.exitStatus === null, r);
  const killed = (await call('terminal_kill', { terminalId })).structuredContent;
  must(killed.exitStatus.signal === 'SIGKILL' && killed.exitStatus.exitCode === null, killed);
  await call('terminal_release', { terminalId });
});
await check('timeout', async () => {
  const terminalId = await create({ command: 'sleep 1000' });
  let error;
  try {
    await call('terminal_wait_for_exit', { terminalId }, { timeout: 200 });
  } catch (e) { error = e; }
  must(error !== undefined);
  await call('terminal_release', { terminalId });
});
await check('denied', async () => {
  const r = await call('terminal_create', { command: 'echo forbidden' });
  must(r.isError === true && r.structuredContent === undefined && r.content[0].text.includes('denied by policy'), r);
});
await check('approve', async () => {
  person.answer = 'accept';
  const r = await run({ command: 'echo danger' });
  must(r.output === 'danger\n' && person.asked === 1, r, person);
});
await check('decline', async () => {
  person.answer = 'decline';
  const r = await call('terminal_create', { command: 'echo danger again' });
  must(r.isError === true && person.asked === 2, r, person);
});
await check('session', async () => {
  await run({ command: 'x=kept; cd /tmp; f() { echo f $x; }', session: 'one' });
  const r = await run({ command: 'f; pwd', session: 'one' });
  must(r.output === 'f kept\n/tmp\n', r);
});
await check('errors', async () => {
  const unknown = await call('terminal_output', { terminalId: 't_00000000000000000000000000000000' });
  must(unknown.isError === true && unknown.content[0].text.startsWith('unknown terminal'), unknown);
  const wrong = await call('terminal_create', { command: 7 });
  must(wrong.isError === true && wrong.content[0].text.includes('"command" must be a string'), wrong);
  let error;
  try { await call('no_such_tool', {}); } catch (e) { error = e; }
  must(error?.code === -32602, error);
});
await check('large', async () => {
  const r = await run({ command: 'yes 0123456789abcde | head -c 1000000', outputByteLimit: 1000000 });
  must(r.output.length === 1000000 && r.read.truncated === false, r.output.length);
});
await check('bytes', async () => {
  const terminalId = await create({ command: "printf '\\377\\000A'" });
  await call('terminal_wait_for_exit', { terminalId });
  const text = (await call('terminal_output', { terminalId })).structuredContent;
  const exact = (await call('terminal_output', { terminalId, encoding: 'base64' })).structuredContent;
  must(text.lossy === true && exact.output === '/wBB', text, exact);
  await call('terminal_release', { terminalId });
});
await check('close', () => client.close());
process.exit(failed ? 1 : 0);
