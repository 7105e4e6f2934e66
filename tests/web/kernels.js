// node kernels.js PAGE.JS KERNELS.WASM FOLDER: answers each N.message in FOLDER with N.answer, as the worker of the page
// does, by the page's own script and the kernels as it carries them.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const [script, program, folder] = process.argv.slice(2);
const module_ = new WebAssembly.Module(fs.readFileSync(program));
const text = fs.readFileSync(script, 'utf8');
// The page gives it nothing but what it asks for here; of anything else a browser would make a function that does nothing.
const given = new Set(['page.answer', 'wasi_snapshot_preview1.proc_exit', 'env.emscripten_notify_memory_growth']);
const more = WebAssembly.Module.imports(module_).map((one) => `${one.module}.${one.name}`).filter((name) => !given.has(name));
if (more.length) { console.log(`kernels.js: the kernels lack ${more}`); process.exit(1); }

async function answer(message) {
  let told;
  const heard = new Promise((resolve) => { told = resolve; });
  const context = { WebAssembly, Promise, Uint8Array, Error, console, self: { postMessage: told } };
  context.self.self = context.self;
  vm.runInNewContext(text, context);
  context.self.onmessage({ data: { message, kernels: module_ } });
  return heard;
}

(async () => {
  for (const name of fs.readdirSync(folder).filter((one) => one.endsWith('.message'))) {
    const from = Date.now();
    const told = await answer(new Uint8Array(fs.readFileSync(path.join(folder, name))));
    if (told.ended) { console.log(`${name}: ${told.why}`); process.exitCode = 1; continue; }
    fs.writeFileSync(path.join(folder, name.replace('.message', '.answer')), told.answer);
    if (process.env.TIMES) console.log(`${name}: ${Date.now() - from} ms, ${told.answer.length} bytes`);
  }
})();
