// Shows one step at a time. Without this script the page shows all of them, one after another.
(() => {
  "use strict";
  const root = document.documentElement;
  const steps = [...document.querySelectorAll(".step")];
  const links = [...document.querySelectorAll(".list a")];
  const slider = document.getElementById("slider"), place = document.getElementById("place");
  const said = document.getElementById("said"), list = document.getElementById("list");
  const title = document.title, wide = matchMedia("(min-width: 1100px)");
  let at = 0, typed = "", hash = 0;

  const clamp = n => Math.max(0, Math.min(steps.length - 1, n));

  function label() {
    place.textContent = typed ? typed + " G" : `${at + 1} / ${steps.length}`;
    place.classList.toggle("typed", typed !== "");
  }

  // Browsers take only so many changes of the address per second: the last of a burst counts.
  function remember() {
    clearTimeout(hash);
    hash = setTimeout(() => history.replaceState(null, "", "#" + steps[at].id), 120);
  }

  function show(n, speak = true) {
    at = clamp(n);
    steps.forEach((step, k) => { step.hidden = k !== at; });
    links.forEach((link, k) => {
      if (k === at) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    if (wide.matches) links[at].scrollIntoView({ block: "nearest" });
    slider.value = at + 1;
    slider.setAttribute("aria-valuetext", steps[at].dataset.name);
    typed = "";
    label();
    document.title = `${at + 1}: ${title}`;
    if (speak) said.textContent = `Step ${at + 1} of ${steps.length}: ${steps[at].dataset.name}`;
    remember();
  }

  // The first step of the next tile, of this one, or of the one before.
  function tile(by) {
    const group = k => steps[k].dataset.tile;
    let n = at;
    if (by > 0) {
      while (n + 1 < steps.length && group(n) === group(at)) ++n;
    } else {
      n = clamp(at - 1);
      while (n > 0 && group(n - 1) === group(n)) --n;
    }
    show(n);
  }

  const acts = {
    first: () => show(0), last: () => show(steps.length - 1),
    back: () => show(at - 1), on: () => show(at + 1),
  };
  const keys = {
    ArrowLeft: acts.back, ArrowRight: acts.on, Home: acts.first, End: acts.last,
    PageUp: () => tile(-1), PageDown: () => tile(1),
    g: goTo, G: goTo, Enter: goTo, t: theme, T: theme,
    Escape: () => { typed = ""; label(); },
  };

  function goTo() {
    if (typed) show(Number(typed) - 1);
  }

  function theme() {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
  }

  function press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && !typed) return;
    if (event.key >= "0" && event.key <= "9" && event.key.length === 1) {
      typed = (typed + event.key).slice(-5);
      label();
    } else if (keys[event.key]) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  function fromAddress() {
    const n = steps.findIndex(step => "#" + step.id === location.hash);
    if (n >= 0) show(n);
    return n >= 0;
  }

  let touch = null;
  const walk = document.getElementById("walk");
  walk.addEventListener("touchstart", event => {
    // Wide tables scroll under the finger; they are no swipe.
    touch = event.touches.length === 1 && !event.target.closest(".scroll, pre, .code") ? event.touches[0] : null;
  }, { passive: true });
  walk.addEventListener("touchend", event => {
    if (!touch) return;
    const dx = event.changedTouches[0].clientX - touch.clientX, dy = event.changedTouches[0].clientY - touch.clientY;
    if (Math.abs(dx) > 60 && Math.abs(dx) > 2 * Math.abs(dy)) show(at + (dx < 0 ? 1 : -1));
    touch = null;
  });

  addEventListener("keydown", press);
  addEventListener("hashchange", fromAddress);
  slider.addEventListener("input", () => show(Number(slider.value) - 1));
  document.querySelectorAll("[data-go]").forEach(button => button.addEventListener("click", () => acts[button.dataset.go]()));
  document.getElementById("theme").addEventListener("click", theme);
  links.forEach((link, k) => link.addEventListener("click", event => {
    event.preventDefault();
    if (!wide.matches) list.open = false;
    show(k);
  }));

  root.classList.add("script");
  list.open = wide.matches;
  if (!fromAddress()) show(0, false);
  // The one step that is shown begins at the top, also where the address names it.
  history.scrollRestoration = "manual";
  addEventListener("load", () => setTimeout(() => scrollTo(0, 0)));
})();
