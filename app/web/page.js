// What the page does between the browser and the program. Everything stays in the page: nothing is asked of any server
// but the page's own files.
// In a worker this file runs once more, without a page: it computes what takes long.
(function () {
  'use strict';
  if (typeof document === 'undefined') return beWorker();

  const canvas = document.getElementById('canvas');
  const status = document.getElementById('status');
  const mirror = document.getElementById('mirror');
  const folder = '/home/web_user';
  const settingsFile = folder + '/.config/tilewalk/settings.json';
  const storageKey = 'tilewalk.settings', openKey = 'tilewalk.open';
  const asked = new URLSearchParams(location.search);
  let program = null, running = false, typing = false, broken = false, timer = 0, requested = false, lastTelling = -1, lastWords = '', lastLink = '', ownHash = '';

  // ---- The program itself, kept compiled for workers
  let compiled = null;
  async function instance(imports) {
    if (window.tilewalkPacked) return WebAssembly.instantiate(await unpacked(window.tilewalkPacked), imports);
    const answer = await fetch('tilewalk.wasm');
    if (!answer.ok) throw new Error('the server answers ' + answer.status);
    const kind = answer.headers.get('content-type') || '';
    return kind.startsWith('application/wasm') ? WebAssembly.instantiateStreaming(answer, imports)
      : WebAssembly.instantiate(await answer.arrayBuffer(), imports);
  }
  function instantiate(imports, receive) {
    instance(imports).then((made) => {
      compiled = made.module;
      window.tilewalkPacked = null;
      const text = document.getElementById('program');
      if (text) text.remove();
      receive(made.instance, made.module);
    }, (why) => say('The program could not be loaded (' + why.message + '). Reload the page, or ask whoever serves it.'));
    return {};
  }

  // ---- Workers: for each run one, which ends with it
  const script = document.currentScript;
  const source = script.src || URL.createObjectURL(new Blob([script.textContent], { type: 'text/javascript' }));
  const workers = new Map();
  function stopWorker(run) {
    if (workers.has(run)) workers.get(run).terminate();
    workers.delete(run);
  }
  function workerEnded(run, why) {
    stopWorker(run);
    call('ended', null, ['number', 'string'], [run, why]);
    want();
  }
  function startWorker(run, request) {
    const worker = new Worker(source);
    workers.set(run, worker);
    worker.onmessage = (event) => {
      if (!workers.has(run)) return;
      if (event.data.ended) return workerEnded(run, event.data.why);
      call('told', null, ['number', 'string'], [run, event.data.told]);
      want();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (workers.has(run)) workerEnded(run, 'The worker has stopped: ' + (event.message || 'it could not be started') + '.');
    };
    worker.postMessage({ module: compiled, request: request });
  }

  // ---- Kernels: a program of their own, which travels packed within the first one
  let kernels = null, kernelsWorker = null;
  function stopKernels() {
    if (kernelsWorker) kernelsWorker.terminate();
    kernelsWorker = null;
  }
  function startKernels(run, message) {
    stopKernels();
    const worker = kernelsWorker = new Worker(source);
    const ended = (why) => {
      if (kernelsWorker !== worker) return;
      stopKernels();
      call('kernels_ended', null, ['number', 'string'], [run, why]);
      want();
    };
    worker.onmessage = (event) => {
      if (kernelsWorker !== worker) return;
      if (event.data.ended) return ended(event.data.why);
      stopKernels();
      kernels = event.data.kernels;
      window.tilewalkKernelsAnswered = run;
      const answer = event.data.answer, at = program._malloc(answer.length);
      program.HEAPU8.set(answer, at);
      call('answered', null, ['number', 'number', 'number'], [run, at, answer.length]);
      program._free(at);
      want();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      ended('The worker has stopped: ' + (event.message || 'it could not be started') + '.');
    };
    worker.postMessage({ message: message, kernels: kernels, packed: kernels ? null : WebAssembly.Module.customSections(compiled, 'kernels')[0] });
  }

  function say(sentence) { status.textContent = sentence; status.hidden = !sentence; }
  // What breaks off in there leaves nothing to go on with.
  function call(name, returns, types, values) {
    if (broken) return null;
    try {
      return program.ccall('tilewalk_' + name, returns, types, values);
    } catch (why) {
      broken = true;
      running = false;
      stopped(why && why.message || 'an error inside');
      throw why;
    }
  }
  function stopped(why) { say('The program has stopped (' + why + '). What was edited is kept: reload the page.'); }

  // ---- Storage: forbidden or full, the program still runs
  function restore(FS) {
    FS.mkdirTree(folder + '/.config/tilewalk');
    FS.chdir(folder);
    try {
      const text = localStorage.getItem(storageKey);
      if (text) FS.writeFile(settingsFile, text);
    } catch (refused) { /* private windows and files have none */ }
  }
  function store(FS) {
    try {
      const text = FS.readFile(settingsFile, { encoding: 'utf8' });
      if (text !== store.last) localStorage.setItem(storageKey, store.last = text);
    } catch (refused) { /* nothing kept yet, or no room */ }
  }

  // Tour, questions and a cell that is being typed into belong to this tab, and to its being loaded again.
  function keepOpen() {
    const left = call('left', 'string', [], []);
    try {
      if (left) sessionStorage.setItem(openKey, left);
      else if (left === '') sessionStorage.removeItem(openKey);
    } catch (refused) { /* as above */ }
  }
  function leftOpen() {
    try {
      const [how] = performance.getEntriesByType('navigation');
      return how.type !== 'navigate' && sessionStorage.getItem(openKey) || '';
    } catch (refused) { return ''; }
  }

  // ---- What the program saves becomes a download
  function offerDownloads(FS) {
    for (const name of FS.readdir(folder)) {
      if (name[0] === '.' || name === 'dropped') continue;
      const path = folder + '/' + name;
      if (!FS.isFile(FS.stat(path).mode)) continue;
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([FS.readFile(path)]));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      FS.unlink(path);
    }
  }

  // ---- Frames: only when one is wanted
  function draw(milliseconds) {
    requested = false;
    if (!running) return;
    const wait = call('frame', 'number', ['number'], [milliseconds / 1000]);
    offerDownloads(program.FS);
    tell();
    if (wait === 0) want();
    else if (wait > 0) timer = setTimeout(want, wait * 1000);
  }
  function want() {
    clearTimeout(timer);
    if (requested) return;
    requested = true;
    requestAnimationFrame(draw);
  }

  // ---- The walk in words and in the address
  function tell() {
    const telling = call('telling', 'number', [], []);
    if (telling === lastTelling) return;
    lastTelling = telling;
    const words = lastWords = call('words', 'string', [], []);
    mirror.replaceChildren(...words.split('\n').filter(Boolean).map((line) => {
      const paragraph = document.createElement('p');
      paragraph.textContent = line;
      return paragraph;
    }));
    clearTimeout(tell.timer);
    tell.timer = setTimeout(follow, 400);
  }
  // A step replaces the entry of the history, another lesson or problem makes one.
  function follow() {
    // Another address has been given that nobody has been told of yet: it counts, and not the place that was left.
    if (location.hash !== ownHash && linkOfAddress()) return followAddress();
    const link = call('link', 'string', [], []);
    document.title = call('title', 'string', [], []);
    document.body.dataset.colours = call('light', 'number', [], []) ? 'light' : 'dark';
    post({ event: 'step', link: link, words: lastWords });
    keepOpen();
    if (!link || link === lastLink) return;
    const place = (text) => text.replace(/\b(step|at|sum)=[^&]*&?/g, '');
    const another = lastLink && place(link) !== place(lastLink);
    lastLink = link;
    try {
      history[another ? 'pushState' : 'replaceState'](null, '', '#' + encodeURI(link));
    } catch (refused) { /* a file that is opened by itself may not */ }
    ownHash = location.hash;
  }
  function linkOfAddress() {
    try {
      const text = decodeURI(location.hash.slice(1));
      return text.startsWith('tilewalk:') ? text : '';
    } catch (broken) { return ''; }  // no UTF-8
  }
  // Who is sent a link to a place gets the address of this page with it.
  function addressOf(text) {
    return /^tilewalk:\S+$/.test(text) ? location.href.split('#')[0] + '#' + encodeURI(text) : text;
  }
  function linkIn(text) {
    try {
      const found = /(?:^|#)(tilewalk:\S+)$/.exec(decodeURI(text.trim()));
      return found ? found[1] : '';
    } catch (broken) { return ''; }
  }
  function followAddress() {
    if (location.hash === ownHash) return;
    ownHash = location.hash;
    const link = linkOfAddress();
    if (!link) return;
    lastLink = link;
    call('follow', null, ['string'], [link]);
    want();
  }

  // ---- Messages of a page that embeds this one; only from the origin that it names
  const partner = asked.get('origin');
  function post(message) {
    if (partner && window.parent !== window) window.parent.postMessage({ tilewalk: message }, partner);
  }
  function listen(event) {
    if (!partner || event.origin !== partner) return;
    const order = event.data && event.data.tilewalk || {};
    if (typeof order.key === 'string' && order.key.length < 32) press({ key: order.key, code: '' });
    if (typeof order.link === 'string' && order.link.length <= 2000) {
      call('follow', null, ['string'], [order.link]);
      want();
    }
  }

  // ---- Pointer, wheel, keyboard
  function ratio() { return window.devicePixelRatio || 1; }
  function resize() {
    if (document.body.classList.contains('in-words')) {
      call('resized', null, ['number', 'number', 'number'], [1280, 800, 1]);
      return want();
    }
    const box = canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio())), height = Math.max(1, Math.round(box.height * ratio()));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    call('resized', null, ['number', 'number', 'number'], [width, height, ratio()]);
    want();
  }
  // On to a screen with other pixels, each time: a query asks for one number of them.
  function followRatio() {
    matchMedia('(resolution: ' + ratio() + 'dppx)').addEventListener('change', () => { resize(); followRatio(); }, { once: true });
  }
  function point(event) {
    const box = canvas.getBoundingClientRect();
    const buttons = event.type === 'pointerup' && event.pointerType === 'touch' ? 0 : event.buttons;
    call('pointer', null, ['number', 'number', 'number', 'number'],
      [(event.clientX - box.left) * ratio(), (event.clientY - box.top) * ratio(), buttons, event.timeStamp / 1000]);
    want();
  }
  function modifiers(event) {
    return (event.shiftKey ? 1 : 0) | (event.ctrlKey ? 2 : 0) | (event.altKey ? 4 : 0) | (event.metaKey ? 8 : 0);
  }
  // Tab goes over what is within the canvas; after Escape it leaves it, as every part of a page can be left.
  let escaped = false;
  function key(event, down) {
    if (down && event.key === 'Tab' && escaped) return;
    if (down && event.key !== 'Shift') escaped = event.key === 'Escape';
    const taken = call('key', 'number', ['string', 'string', 'number', 'number', 'number'],
      [event.key, event.code || '', down ? 1 : 0, modifiers(event), event.repeat ? 1 : 0]);
    const plain = !event.ctrlKey && !event.metaKey;
    if (down && plain && [...event.key].length === 1) call('text', null, ['string'], [event.key]);
    if (taken && event.preventDefault) event.preventDefault();
    want();
  }
  function press(event) {
    key(event, true);
    key(event, false);
  }
  // Two fingers: apart is larger, together smaller
  const fingers = new Map();
  let apart = 0;
  function pinch(event) {
    if (event.pointerType !== 'touch') return false;
    if (event.type === 'pointerup' || event.type === 'pointercancel') fingers.delete(event.pointerId);
    else if (event.type === 'pointerdown' || fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
    if (fingers.size !== 2) { apart = 0; return fingers.size > 2; }
    const [a, b] = [...fingers.values()];
    const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (!apart) apart = now;
    const steps = Math.round(Math.log2(now / apart) * 4);
    if (steps !== 0) {
      apart = now;
      press({ key: steps > 0 ? '+' : '-', code: '', ctrlKey: false });
    }
    return true;
  }

  function listenToInput() {
    for (const name of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'])
      canvas.addEventListener(name, (event) => {
        if (name === 'pointerdown') { canvas.focus({ preventScroll: true }); canvas.setPointerCapture(event.pointerId); }
        if (!pinch(event)) point(event);
        if (event.pointerType === 'touch') event.preventDefault();
      });
    canvas.addEventListener('pointerleave', (event) => {
      call('pointer', null, ['number', 'number', 'number', 'number'], [-1e6, -1e6, 0, event.timeStamp / 1000]);
      want();
    });
    canvas.addEventListener('wheel', (event) => {
      if (event.ctrlKey) return;  // the browser's zoom
      const unit = event.deltaMode === 1 ? 1 / 3 : event.deltaMode === 2 ? 3 : 1 / 100;
      call('wheel', null, ['number', 'number'], [-event.deltaX * unit, -event.deltaY * unit]);
      event.preventDefault();
      want();
    }, { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    const inWords = document.body.classList.contains('in-words');
    if (inWords) document.addEventListener('keydown', (event) => { if (!event.defaultPrevented && event.target !== canvas) key(event, true); });
    if (inWords) document.addEventListener('keyup', (event) => { if (event.target !== canvas) key(event, false); });
    canvas.addEventListener('keydown', (event) => key(event, true));
    canvas.addEventListener('keyup', (event) => key(event, false));
    document.addEventListener('paste', (event) => {
      if (document.activeElement !== canvas) return;
      const text = event.clipboardData.getData('text/plain'), link = typing ? '' : linkIn(text);
      if (link) call('follow', null, ['string'], [link]);
      else call('pasted', null, ['string'], [text]);
      event.preventDefault();
      want();
    });
    canvas.addEventListener('webglcontextlost', (event) => { event.preventDefault(); running = false; call('context', null, ['number'], [0]); });
    canvas.addEventListener('webglcontextrestored', () => { call('context', null, ['number'], [1]); running = true; want(); });
    new ResizeObserver(resize).observe(canvas);
    followRatio();
    window.addEventListener('hashchange', followAddress);
    window.addEventListener('popstate', followAddress);
    window.addEventListener('message', listen);
    window.addEventListener('pagehide', () => { call('keep', null, ['number'], [0]); keepOpen(); });
  }

  // ---- Files: dropped, or chosen
  async function open(files) {
    const FS = program.FS;
    FS.mkdirTree(folder + '/dropped');
    for (const file of files) {
      const name = file.name.replace(/[/\\]/g, '_');
      FS.writeFile(folder + '/dropped/' + name, new Uint8Array(await file.arrayBuffer()));
      call('dropped', null, ['string'], [folder + '/dropped/' + name]);
    }
    want();
  }
  function listenToFiles() {
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => { event.preventDefault(); open(event.dataTransfer.files); });
    const chooser = document.getElementById('chooser');
    chooser.addEventListener('change', () => { open(chooser.files); chooser.value = ''; canvas.focus(); });
    for (const button of document.querySelectorAll('[data-key]'))
      button.addEventListener('click', () => { press({ key: button.dataset.key, code: '' }); canvas.focus({ preventScroll: true }); });
    document.getElementById('fullscreen').addEventListener('click', () => {
      if (document.fullscreenElement) document.exitFullscreen().then(() => canvas.focus());
      else document.getElementById('frame').requestFullscreen().then(() => canvas.focus());
    });
  }

  const cursors = ['default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];

  window.Module = {
    instantiateWasm: instantiate,
    noInitialRun: true,
    print: (text) => console.log(text),
    printErr: (text) => console.log(text),
    tilewalk: {
      choose: () => document.getElementById('chooser').click(),
      copy: (text) => { if (navigator.clipboard) navigator.clipboard.writeText(addressOf(text)).catch(() => {}); },
      store: () => store(window.Module.FS),
      startWorker: startWorker,
      stopWorker: stopWorker,
      startKernels: startKernels,
      stopKernels: stopKernels,
      cursor: (shape, writing) => { canvas.style.cursor = cursors[shape] || 'default'; typing = !!writing; },
    },
    preRun: [(module) => restore(module.FS || window.Module.FS)],
    onRuntimeInitialized: () => {
      program = window.Module;
      const prefers = (what) => matchMedia('(prefers-' + what + ')').matches;
      const theme = prefers('color-scheme: light') ? 'light' : 'dark', motion = prefers('reduced-motion: reduce') ? 0 : 1;
      const stage = asked.get('embed') === '1' && asked.get('controls') === 'min' || asked.get('presenter') === '1';
      ownHash = location.hash;
      const how = call('open', 'number', ['string', 'string', 'number', 'string', 'number'],
        [linkOfAddress(), leftOpen(), stage ? 1 : 0, theme, motion]);
      if (!how) return say('The walk could not be begun; reload the page without what stands behind the # of its address.');
      say(how === 1 ? '' : 'This browser gives no WebGL 2, so there is no picture: here is the walk in words. ' +
        'The arrow keys and the buttons step.');
      document.body.classList.toggle('in-words', how === 2);
      document.body.classList.toggle('embedded', asked.get('embed') === '1');
      listenToInput();
      listenToFiles();
      running = true;
      resize();
      if (window.parent === window) canvas.focus({ preventScroll: true });
      window.tilewalkReady = performance.now();
      post({ event: 'ready' });
    },
    onAbort: stopped,
  };

  function beWorker() {
    let arrived;
    const order = new Promise((resolve) => { arrived = resolve; });
    self.onmessage = (event) => event.data.message ? runKernels(event.data).catch(failed) : arrived(event.data);
    const failed = (why) => self.postMessage({ ended: true, why: 'The worker has stopped: ' + (why && why.message || why) + '.' });
    self.Module = {
      noInitialRun: true,
      instantiateWasm: (imports, receive) => {
        order.then((given) => WebAssembly.instantiate(given.module, imports)).then(receive).catch(failed);
        return {};
      },
      tilewalk: { post: (told) => self.postMessage({ told: told }) },
      onRuntimeInitialized: () => order.then((given) => {
        self.Module.ccall('tilewalk_work', null, ['string'], [given.request]);
        self.postMessage({ ended: true, why: '' });
      }).catch(failed),
    };
  }

  // What travels packed: the program in the single file, the kernels in the program
  async function unpacked(bytes) {
    if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to unpack it');
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
  }

  // In a worker: the kernels run once, in a memory that ends with them.
  async function unpack(packed) {
    if (!packed) throw new Error('this page was made without the kernels');
    return WebAssembly.compile(await unpacked(packed));
  }
  async function runKernels(given) {
    const module = given.kernels || await unpack(given.packed);
    let made = null, answer = null;
    const done = (at, count) => {
      answer = new Uint8Array(made.exports.memory.buffer, at, count).slice();
      throw new Error('answered');  // nothing comes after it
    };
    const imports = { page: { answer: done } };
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      if (!imports[from]) imports[from] = {};
      if (!imports[from][name]) imports[from][name] = () => 0;  // of a system that there is none of
    }
    made = await WebAssembly.instantiate(module, imports);
    const { memory, tilewalk_room: room, tilewalk_run: run, _initialize: begin } = made.exports;
    if (begin) begin();
    const at = room(given.message.length);
    new Uint8Array(memory.buffer).set(given.message, at);
    try {
      run(at, given.message.length);
    } catch (why) {
      if (!answer) throw why;
    }
    self.postMessage({ answer: answer, kernels: module }, [answer.buffer]);
  }

  // Four numbers at once and exceptions: what the program is made of
  const needs = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(needs)) {
    window.Module = { instantiateWasm: () => ({}) };  // nothing begins
    say('This browser is too old: WebAssembly with SIMD is needed (Chrome 95, Firefox 100, Safari 16.4 or newer).');
  }
})();
