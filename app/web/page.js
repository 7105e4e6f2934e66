// What the page does between the browser and the program. Everything stays in the page: nothing is asked of any server
// but the page's own files.
(function () {
  'use strict';
  const canvas = document.getElementById('canvas');
  const status = document.getElementById('status');
  const mirror = document.getElementById('mirror');
  const folder = '/home/web_user';
  const settingsFile = folder + '/.config/tilewalk/settings.json';
  const storageKey = 'tilewalk.settings';
  const asked = new URLSearchParams(location.search);
  let program = null, running = false, timer = 0, requested = false, lastWords = '', lastLink = '', ownHash = '';

  function say(sentence) { status.textContent = sentence; status.hidden = !sentence; }
  function call(name, returns, types, values) { return program.ccall('tilewalk_' + name, returns, types, values); }

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
    const words = call('words', 'string', [], []);
    if (words === lastWords) return;
    lastWords = words;
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
    const link = call('link', 'string', [], []);
    document.title = call('title', 'string', [], []);
    post({ event: 'step', link: link, words: lastWords });
    if (!link || link === lastLink) return;
    const place = (text) => text.replace(/step=[^;&]*/, '');
    const another = lastLink && place(link) !== place(lastLink);
    lastLink = link;
    ownHash = '#' + encodeURI(link);
    try {
      history[another ? 'pushState' : 'replaceState'](null, '', ownHash);
    } catch (refused) { /* a file that is opened by itself may not */ }
  }
  function linkOfAddress() {
    const text = decodeURI(location.hash.slice(1));
    return text.startsWith('tilewalk:') ? text : '';
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
    if (!partner || event.origin !== partner || !event.data || typeof event.data.tilewalk !== 'object') return;
    const order = event.data.tilewalk;
    if (typeof order.key === 'string' && order.key.length < 32) press({ key: order.key, code: '' });
    if (typeof order.link === 'string' && order.link.length <= 2000) {
      call('follow', null, ['string'], [order.link]);
      want();
    }
  }

  // ---- Pointer, wheel, keyboard
  function ratio() { return window.devicePixelRatio || 1; }
  function resize() {
    const box = canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio())), height = Math.max(1, Math.round(box.height * ratio()));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    call('resized', null, ['number', 'number', 'number'], [width, height, ratio()]);
    want();
  }
  function point(event) {
    const box = canvas.getBoundingClientRect();
    const buttons = event.type === 'pointerup' && event.pointerType === 'touch' ? 0 : event.buttons;
    call('pointer', null, ['number', 'number', 'number'],
      [(event.clientX - box.left) * ratio(), (event.clientY - box.top) * ratio(), buttons]);
    want();
  }
  function modifiers(event) {
    return (event.shiftKey ? 1 : 0) | (event.ctrlKey ? 2 : 0) | (event.altKey ? 4 : 0) | (event.metaKey ? 8 : 0);
  }
  function key(event, down) {
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
    canvas.addEventListener('pointerleave', () => {
      call('pointer', null, ['number', 'number', 'number'], [-1e6, -1e6, 0]);
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
    canvas.addEventListener('keydown', (event) => key(event, true));
    canvas.addEventListener('keyup', (event) => key(event, false));
    document.addEventListener('paste', (event) => {
      if (document.activeElement !== canvas) return;
      call('pasted', null, ['string'], [event.clipboardData.getData('text/plain')]);
      event.preventDefault();
      want();
    });
    canvas.addEventListener('webglcontextlost', (event) => { event.preventDefault(); running = false; call('context', null, ['number'], [0]); });
    canvas.addEventListener('webglcontextrestored', () => { call('context', null, ['number'], [1]); running = true; want(); });
    new ResizeObserver(resize).observe(canvas);
    matchMedia('(resolution: ' + ratio() + 'dppx)').addEventListener('change', resize);
    window.addEventListener('hashchange', followAddress);
    window.addEventListener('popstate', followAddress);
    window.addEventListener('message', listen);
    window.addEventListener('pagehide', () => { call('keep', null, ['number'], [0]); });
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
      if (document.fullscreenElement) document.exitFullscreen();
      else document.getElementById('frame').requestFullscreen().then(() => canvas.focus());
    });
  }

  const cursors = ['default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];

  window.Module = {
    wasmBinary: window.tilewalkBytes,  // there where all is in one file
    noInitialRun: true,
    print: (text) => console.log(text),
    printErr: (text) => console.log(text),
    tilewalk: {
      copy: (text) => { if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {}); },
      store: () => store(window.Module.FS),
      cursor: (shape) => { canvas.style.cursor = cursors[shape] || 'default'; },
    },
    preRun: [(module) => restore(module.FS || window.Module.FS)],
    onRuntimeInitialized: () => {
      program = window.Module;
      const theme = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
      const stage = asked.get('embed') === '1' && asked.get('controls') === 'min' || asked.get('presenter') === '1';
      ownHash = location.hash;
      if (!call('open', 'number', ['string', 'number', 'string'], [linkOfAddress(), stage ? 1 : 0, theme]))
        return say('This browser gives no WebGL 2, so there is no picture; the program for Debian and Ubuntu needs none of it.');
      say('');
      document.body.classList.toggle('embedded', asked.get('embed') === '1');
      listenToInput();
      listenToFiles();
      running = true;
      resize();
      canvas.focus({ preventScroll: true });
      window.tilewalkReady = performance.now();
      post({ event: 'ready' });
    },
    onAbort: (why) => say('The program has stopped (' + why + '). What was edited is kept: reload the page.'),
  };

  // Four numbers at once and exceptions: what the program is made of
  const needs = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(needs)) {
    window.Module = { instantiateWasm: () => ({}) };  // nothing begins
    say('This browser is too old: WebAssembly with SIMD is needed (Chrome 95, Firefox 100, Safari 16.4 or newer).');
  }
})();
