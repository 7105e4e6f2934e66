// node page_alone.js PAGE.JS: the page's script between a browser and a program that are both made up here. What the real
// ones make of it, browse.py looks at.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const vm = require('node:vm');
const source = fs.readFileSync(process.argv[2], 'utf8');

function element(id) {
  const listeners = {};
  const classes = new Set();
  return {
    id, listeners, dataset: {}, style: {}, children: [], textContent: '', hidden: false, width: 0, height: 0, src: '',
    classList: {
      toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)), contains: (name) => classes.has(name),
    },
    addEventListener: (name, what) => (listeners[name] = listeners[name] || []).push(what),
    fire(name, event) { for (const what of listeners[name] || []) what({ type: name, preventDefault() { event.prevented = true; }, ...event }); },
    getBoundingClientRect: () => ({ left: 0, top: 0, width: 800, height: 600 }),
    replaceChildren(...children) { this.children = children; },
    focus() { this.focused = true; }, click() { this.clicked = true; }, setPointerCapture() {}, remove() {},
  };
}

// A page with the program in it that `answers` describes.
function page({ search = '', hash = '', storage, tab = {}, loaded = 'navigate', parent = null, opens = 1, prefers = [], refuses = false } = {}) {
  const all = {};
  for (const id of ['canvas', 'status', 'mirror', 'chooser', 'fullscreen', 'frame']) all[id] = element(id);
  const next = element('next');
  next.dataset.key = 'ArrowRight';
  const copied = [], calls = [], files = {}, made = [], timers = [], posted = [], entries = [], workers = [], media = [];
  entries.push('');
  let step = 1, lesson = 'flash', telling = 0;
  const program = {
    open: () => opens, frame: () => -1, telling: () => telling, words: () => `step ${step}\nformula\nresult\nwhy`,
    link: () => `tilewalk:lesson=${lesson}&step=${step}&sum=${1000 + step}`, title: () => 'Flash', left: () => '',
    key: (key, code, down) => { if (down && key === 'ArrowRight') { ++step; ++telling; } return key === 'ArrowRight' ? 1 : 0; },
    follow: (link) => { lesson = /lesson=(\w+)/.exec(link)?.[1] || lesson; ++telling; },
  };
  const document = {
    ...element('document'), body: element('body'), currentScript: { src: 'tilewalk.js', textContent: '' }, title: '', activeElement: all.canvas,
    getElementById: (id) => all[id] || null, querySelectorAll: () => [next],
    createElement: () => { const one = element('made'); made.push(one); return one; },
  };
  const location = { search, hash, href: 'http://here/' };
  const window = { ...element('window'), devicePixelRatio: 2 };
  window.parent = parent || window;
  if (parent) parent.postMessage = (message, origin) => posted.push({ message, origin });
  const FS = {
    mkdirTree() {}, chdir() {}, readdir: () => ['.', '..', ...Object.keys(files)], stat: () => ({ mode: 0 }), isFile: () => true,
    readFile: (path) => files[path.split('/').pop()], writeFile: (path, text) => { files[path.split('/').pop()] = text; },
    unlink: (path) => { delete files[path.split('/').pop()]; },
  };
  const refuse = () => { if (refuses) throw new Error('refused'); };
  class Worker {
    constructor(from) { this.from = from; workers.push(this); }
    postMessage(message) { this.sent = message; }
    terminate() { this.ended = true; }
  }
  const context = {
    window, document, location, navigator: { clipboard: { writeText: (text) => { copied.push(text); return Promise.resolve(); } } }, URLSearchParams, Worker, Promise, console, Map, Error,
    Blob: class { constructor(parts) { this.parts = parts; } }, URL: { createObjectURL: () => 'blob:1', revokeObjectURL() {} },
    history: {
      pushState: (a, b, to) => { refuse(); entries.push(to); location.hash = to; },
      replaceState: (a, b, to) => { refuse(); entries[entries.length - 1] = to; location.hash = to; },
    },
    matchMedia: (query) => { const one = element('media'); one.query = query; one.matches = prefers.some((what) => query.includes(what)); media.push(one); return one; }, ResizeObserver: class { observe() {} }, performance: { now: () => 5, getEntriesByType: () => [{ type: loaded }] },
    requestAnimationFrame: (draw) => timers.push(() => draw(16)), setTimeout: (what) => timers.push(what), clearTimeout() {},
  };
  // Three bytes of packed kernels are within the program.
  context.WebAssembly = { validate: () => true, Module: { customSections: (_, name) => (name === 'kernels' ? [new ArrayBuffer(3)] : []) } };
  Object.defineProperty(context, 'localStorage', { get: storage || (() => { throw new Error('forbidden'); }) });
  context.sessionStorage = { getItem: (key) => tab[key] ?? null, setItem: (key, text) => { tab[key] = text; }, removeItem: (key) => { delete tab[key]; } };
  vm.runInNewContext(source, context);
  const Module = window.Module;
  Module.FS = FS;
  Module.ccall = (name, returns, types, values) => {
    const short = name.replace('tilewalk_', '');
    calls.push([short, ...values]);
    return program[short] ? program[short](...values) : 0;
  };
  Module.preRun[0](Module);
  Module.onRuntimeInitialized();
  const settle = () => { while (timers.length) timers.shift()(); };
  settle();
  return { all, copied, tilewalk: Module.tilewalk, window, document, location, calls, files, made, posted, entries, workers, media, next, Module, program, settle,
    named: (name) => calls.filter((one) => one[0] === name) };
}

const tests = {
  'a step replaces its entry in the history, another lesson makes one'() {
    const p = page();
    for (let k = 0; k < 5; ++k) { p.all.canvas.fire('keydown', { key: 'ArrowRight', code: '' }); p.settle(); }
    assert.equal(p.entries.length, 1);
    p.location.hash = '#tilewalk:lesson=ring&step=6';
    p.window.fire('hashchange', {});
    p.settle();
    p.all.canvas.fire('keydown', { key: 'ArrowRight', code: '' });
    p.settle();
    assert.deepEqual(p.named('follow'), [['follow', 'tilewalk:lesson=ring&step=6']]);
    assert.match(p.entries.at(-1), /lesson=ring&step=7/);
  },
  'an address that is given while a step is not yet in it counts'() {
    const p = page();
    p.all.canvas.fire('keydown', { key: 'ArrowRight', code: '' });
    p.location.hash = '#tilewalk:lesson=ring&step=6';  // before the browser tells of it
    p.settle();
    p.window.fire('hashchange', {});
    p.settle();
    assert.deepEqual(p.named('follow'), [['follow', 'tilewalk:lesson=ring&step=6']]);
    assert.match(p.location.hash, /lesson=ring/);
  },
  'a history that refuses leaves the walk where it is'() {
    const p = page({ hash: '#tilewalk:lesson=ring&step=1', refuses: true });
    for (let k = 0; k < 3; ++k) { p.all.canvas.fire('keydown', { key: 'ArrowRight', code: '' }); p.settle(); }
    assert.equal(p.named('follow').length, 0);
  },
  'a link is copied as an address, and pasted as either leads there, but not while something is written'() {
    const p = page(), link = 'tilewalk:lesson=ring&step=6', paste = (text) => p.document.fire('paste', { clipboardData: { getData: () => text } });
    p.tilewalk.copy(link);
    p.tilewalk.copy('0.368');
    assert.deepEqual(p.copied, ['http://here/#' + link, '0.368']);
    paste(' http://there/index.html#' + link + '\n');
    paste(link);
    assert.deepEqual(p.named('follow'), [['follow', link], ['follow', link]]);
    p.tilewalk.cursor(1, 1);
    paste(link);
    paste('2.5');
    paste('#tilewalk:%');
    assert.deepEqual(p.named('pasted').map((call) => call[1]), [link, '2.5', '#tilewalk:%']);
  },
  'a link that cannot be decoded is passed over'() {
    const p = page({ hash: '#tilewalk:%E0%A4%A' });
    assert.deepEqual(p.named('open'), [['open', '', '', 0, 'dark', 1]]);
    p.location.hash = '#%';
    p.window.fire('hashchange', {});
    assert.equal(p.named('follow').length, 0);
  },
  'what the reader\'s system prefers is handed on'() {
    for (const [prefers, theme, motion] of [[[], 'dark', 1], [['color-scheme: light'], 'light', 1], [['reduced-motion: reduce'], 'dark', 0]])
      assert.deepEqual(page({ prefers }).named('open')[0].slice(4), [theme, motion]);
  },
  'on every change of the screen it is looked at anew'() {
    const p = page();
    for (const [ratio, query] of [[1, '2dppx'], [3, '1dppx'], [1.5, '3dppx']]) {
      p.window.devicePixelRatio = ratio;
      const last = p.media.at(-1);
      assert.ok(last.query.includes(query), last.query);
      last.fire('change', {});
      assert.deepEqual(p.named('resized').at(-1), ['resized', 800 * ratio, 600 * ratio, ratio]);
    }
  },
  'only the page that is named is told and listened to'() {
    const p = page({ search: '?origin=https://school.example', parent: {} });
    assert.deepEqual([p.posted[0].origin, p.posted[0].message.tilewalk.event], ['https://school.example', 'ready']);
    for (const [origin, data, keys] of [['https://evil.example', { tilewalk: { key: 'ArrowRight' } }, 0],
      ['https://school.example', null, 0], ['https://school.example', { tilewalk: null }, 0],
      ['https://school.example', { tilewalk: { key: 7 } }, 0], ['https://school.example', { tilewalk: { link: 'x'.repeat(2001) } }, 0],
      ['https://school.example', { tilewalk: { key: 'ArrowRight' } }, 2]]) {
      const before = p.named('key').length;
      p.window.fire('message', { origin, data });
      assert.equal(p.named('key').length - before, keys, JSON.stringify(data));
    }
    assert.equal(p.named('follow').length, 0);
    assert.ok(!p.all.canvas.focused, 'in a frame the canvas waits to be chosen');
  },
  'storage that is forbidden or full changes nothing else'() {
    for (const storage of [undefined, () => ({ getItem: () => '{', setItem() { throw new Error('full'); } })]) {
      const p = page({ storage });
      p.Module.tilewalk.store();
      p.all.canvas.fire('keydown', { key: 'ArrowRight', code: '' });
      p.settle();
      assert.match(p.all.mirror.children[0].textContent, /step 2/);
    }
  },
  'what stood open is there again when the page is loaded once more, and in no other case'() {
    const tab = {}, p = page({ tab });
    p.program.left = () => '{"tour":true}';
    p.window.fire('pagehide', {});
    assert.deepEqual(tab, { 'tilewalk.open': '{"tour":true}' });
    for (const [loaded, left] of [['reload', '{"tour":true}'], ['navigate', '']])
      assert.equal(page({ tab: { ...tab }, loaded }).named('open')[0][2], left);
    p.program.left = () => '';
    p.window.fire('pagehide', {});
    assert.deepEqual(tab, {});
  },
  'words are made when they have changed'() {
    const p = page();
    for (let k = 0; k < 5; ++k) { p.all.canvas.fire('pointermove', { clientX: k, clientY: 1, pointerType: 'mouse', buttons: 0 }); p.settle(); }
    assert.equal(p.named('words').length, 1);
    assert.ok(p.named('frame').length > 4);
  },
  'what the program saves becomes a download'() {
    const p = page();
    p.files['walk.csv'] = '1,2';
    p.all.canvas.fire('keydown', { key: 'ArrowRight', code: '' });
    p.settle();
    const link = p.made.find((one) => one.download);
    assert.deepEqual([link.download, link.clicked, p.files['walk.csv']], ['walk.csv', true, undefined]);
  },
  'after Escape, Tab leaves the canvas'() {
    const p = page();
    p.program.key = () => 1;
    const pressed = (key) => { const event = { key, code: '' }; p.all.canvas.fire('keydown', event); return event.prevented || false; };
    const all = ['Tab', 'Escape', 'Shift', 'Tab', 'Tab', 'ArrowRight', 'Tab'].map((key) => [key, pressed(key)]);
    const taken = all.map(([key, taken]) => key + (taken ? ' taken' : ''));
    assert.deepEqual(taken, ['Tab taken', 'Escape taken', 'Shift taken', 'Tab', 'Tab', 'ArrowRight taken', 'Tab taken']);
  },
  'two fingers that part enlarge'() {
    const p = page();
    const finger = (name, id, x) => p.all.canvas.fire(name, { pointerId: id, pointerType: 'touch', clientX: x, clientY: 0, buttons: 1 });
    finger('pointerdown', 1, 100);
    finger('pointerdown', 2, 200);
    finger('pointermove', 2, 320);
    assert.ok(p.named('key').some((one) => one[1] === '+'));
  },
  'a run goes to a worker, and ends with it'() {
    const p = page();
    p.Module.tilewalk.startWorker(4, '{}');
    const [worker] = p.workers;
    assert.equal(worker.sent.request, '{}');
    worker.onmessage({ data: { told: 'so far' } });
    assert.deepEqual(p.named('told'), [['told', 4, 'so far']]);
    p.Module.tilewalk.stopWorker(4);
    assert.ok(worker.ended);
    worker.onmessage({ data: { told: 'too late' } });
    assert.equal(p.named('told').length, 1);
    p.Module.tilewalk.startWorker(5, '{}');
    p.workers[1].onerror({ preventDefault() {}, message: 'no memory' });
    assert.match(p.named('ended')[0][2], /no memory/);
  },
  'kernels run in a worker of their own, and are unpacked once'() {
    const p = page();
    const memory = new Uint8Array(64);
    Object.assign(p.Module, { HEAPU8: memory, _malloc: () => 8, _free() {} });
    p.Module.tilewalk.startKernels(1, new Uint8Array([7]));
    const [worker] = p.workers;
    assert.deepEqual([[...worker.sent.message], worker.sent.packed.byteLength, worker.sent.kernels], [[7], 3, null]);
    worker.onmessage({ data: { answer: new Uint8Array([1, 2]), kernels: 'compiled' } });
    assert.deepEqual([p.named('answered'), [...memory.slice(8, 10)], worker.ended], [[['answered', 1, 8, 2]], [1, 2], true]);
    p.Module.tilewalk.startKernels(2, new Uint8Array([8]));
    assert.deepEqual([p.workers[1].sent.packed, p.workers[1].sent.kernels], [null, 'compiled']);
    p.Module.tilewalk.stopKernels();
    assert.ok(p.workers[1].ended);
    p.workers[1].onmessage({ data: { answer: new Uint8Array([3]), kernels: 'compiled' } });
    assert.equal(p.named('answered').length, 1, 'what nobody waits for any more is passed over');
    p.Module.tilewalk.startKernels(3, new Uint8Array([9]));
    p.workers[2].onmessage({ data: { ended: true, why: 'unreachable' } });
    assert.deepEqual(p.named('kernels_ended'), [['kernels_ended', 3, 'unreachable']]);
  },
  'without WebGL 2 the walk is told in words, and keys step'() {
    const p = page({ opens: 2 });
    assert.match(p.all.status.textContent, /WebGL 2/);
    p.document.fire('keydown', { key: 'ArrowRight', code: '', target: p.document.body });
    p.settle();
    assert.match(p.all.mirror.children[0].textContent, /step 2/);
  },
  'a program that breaks off says so, and is asked nothing more'() {
    const p = page();
    p.program.key = () => { throw new Error('unreachable'); };
    assert.throws(() => p.all.canvas.fire('keydown', { key: 'a', code: '' }));
    assert.match(p.all.status.textContent, /has stopped \(unreachable\)/);
    const before = p.calls.length;
    p.all.canvas.fire('keydown', { key: 'a', code: '' });
    assert.equal(p.calls.length, before);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try { test(); } catch (why) { ++failed; console.log(`FAILED: ${name}: ${why.stack}`); }
}
console.log(`page_alone.js: ${Object.keys(tests).length} tests, ${failed} failed`);
process.exit(failed ? 1 : 0);
