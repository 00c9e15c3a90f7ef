// The playground: chooses among states that the compiler has computed (states.py). It computes
// nothing itself but which lines are new. `playground(root, data, linked)` fills the element `root`;
// `linked` keeps the state in the fragment of the address: #swish/fold,cse/3/assembly.
"use strict";

// The texts of a table: the inverse of table.py, which says how they are written.
function unpacked({ words, texts, digits, small }) {
  const value = new Map([...digits].map((digit, n) => [digit, n]));
  const base = digits.length - 2, ends = digits[base + 1], copy = digits[base];
  const stream = [], all = [];
  let at = 0, begin = 0;
  const number = () => {
    const lead = value.get(texts[at++]);
    let n = lead;
    if (lead >= small) {
      n = small;
      for (let k = 0, unit = 1; k <= lead - small; k++, unit *= base)
        n += value.get(texts[at++]) * unit;
    }
    return n;
  };
  while (at < texts.length) {
    if (texts[at] === ends) {
      all.push(stream.slice(begin).map((n) => words[n]).join(""));
      begin = stream.length;
      at++;
    } else if (texts[at] === copy) {
      at++;
      const start = stream.length - number();
      for (let k = start, end = start + number(); k < end; k++) stream.push(stream[k]);
    } else stream.push(number());
  }
  return all;
}

// An element: make("button", { type: "button" }, "fold").
function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  element.append(...content);
  return element;
}

const VIEWS = [["graph", "Graph"], ["loops", "Loops"], ["llvm", "LLVM IR"],
  ["assembly", "Assembly"], ["ptx", "PTX"], ["counts", "Counts"]];
const STEPPED = ["loops", "llvm", "assembly", "counts"];
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const shown = (n) => (n === null ? "not known" : n.toLocaleString("en"));

function playground(root, data, linked) {
  const texts = unpacked(data.table), { passes, programs } = data;
  const place = new Map(data.orders.map((order, n) => [order, n]));
  const now = { program: 0, order: [], step: 0, view: "graph" };

  // What the state points at.
  const program = () => programs[now.program];
  const formOf = (order) => program().forms[program().ends[place.get(order.join(""))]];
  const kernel = () => {
    const form = formOf(now.order);
    return form.wrong || form.main === null ? null : program().kernels[form.main];
  };

  // The parts that stay.
  const select = make("select", { id: "pg-program", onchange: () => {
    Object.assign(now, { program: select.selectedIndex, step: 0 });
    show();
  } }, ...programs.map((one) => make("option", {}, one.name)));
  const about = make("p", { class: "pg-about" });
  const toggles = passes.map((name, n) => make("button", { type: "button", onclick: () => {
    choose(now.order.includes(n) ? now.order.filter((k) => k !== n) : [...now.order, n]);
  } }, name));
  const every = passes.join() === "fold,simplify,cse,dce,fuse"
    ? "all five, as the compiler has them" : "all, in this order";
  const presets = [["none", []], [every, passes.map((_, n) => n)]]
    .map(([words, order]) => make("button", { type: "button", class: "pg-quiet",
      onclick: () => choose(order) }, words));
  const chain = make("ol", { class: "pg-chain", "aria-label": "The passes that run, in order" });
  const status = make("p", { class: "pg-status", role: "status" });
  const tabs = VIEWS.map(([view, words]) => make("button", { type: "button", role: "tab",
    id: `pg-tab-${view}`, "aria-controls": "pg-panel", onclick: () => look(view) }, words));
  const tablist = make("div", { class: "pg-tabs", role: "tablist", "aria-label": "Views",
    onkeydown: (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      const at = VIEWS.findIndex(([view]) => view === now.view);
      look(VIEWS[(at + move + VIEWS.length) % VIEWS.length][0]);
      tabs[VIEWS.findIndex(([view]) => view === now.view)].focus();
    } }, ...tabs);
  const back = make("button", { type: "button", onclick: () => go(now.step - 1) }, "‹ back");
  const on = make("button", { type: "button", onclick: () => go(now.step + 1) }, "on ›");
  const range = make("input", { type: "range", min: 0, "aria-label": "Step of the schedule",
    oninput: () => go(Number(range.value)) });
  const stepName = make("output", { class: "pg-step" });
  const stepper = make("div", { class: "pg-stepper", role: "group",
    "aria-label": "Schedule of the main kernel" }, back, range, on, stepName);
  const panel = make("div", { id: "pg-panel", class: "pg-panel", role: "tabpanel", tabindex: 0 });
  const link = make("a", { href: "#" }, "Link to this state");

  root.replaceChildren(
    make("div", { class: "pg-row" }, ...(programs.length > 1 ?
      [make("label", { for: "pg-program" }, "Program"), select] : [make("b", {}, programs[0].name)])),
    about,
    make("fieldset", { class: "pg-passes" }, make("legend", {}, "Passes"),
      make("p", { class: "pg-hint" }, "A press puts a pass at the end of the order, the next one " +
        "takes it out."), make("div", { class: "pg-row" }, ...toggles),
      make("div", { class: "pg-row" }, ...presets), ...whose(data), chain),
    status, tablist, stepper, panel, ...(linked ? [make("p", { class: "pg-link" }, link)] : []));

  // What changes the state.
  function choose(order) {
    Object.assign(now, { order, step: 0 });
    show();
  }
  function look(view) {
    now.view = view;
    show();
  }
  function go(step) {
    const last = kernel() ? kernel().steps.length - 1 : 0;
    now.step = Math.max(0, Math.min(step, last));
    show();
  }
  function swap(at, by) {
    const order = [...now.order], name = passes[order[at]];
    [order[at], order[at + by]] = [order[at + by], order[at]];
    choose(order);
    const buttons = [...chain.children[at + by + 1].querySelectorAll("button")];
    (buttons.find((b) => !b.disabled && b.dataset.by === String(by)) ||
      buttons.find((b) => !b.disabled)).focus();
    status.prepend(`${name} is number ${at + by + 1} now. `);
  }

  // What shows it.
  function show() {
    const form = formOf(now.order);
    select.selectedIndex = now.program;
    about.replaceChildren(...marked(program().about));
    toggles.forEach((button, n) => {
      const at = now.order.indexOf(n);
      button.setAttribute("aria-pressed", at >= 0);
      button.dataset.at = at >= 0 ? at + 1 : "";
    });
    showChain();
    showStatus(form);
    tabs.forEach((tab, n) => {
      const chosen = VIEWS[n][0] === now.view;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `pg-tab-${now.view}`);
    showStep();
    panel.replaceChildren(...(form.wrong ? [failure(form.wrong)] : views[now.view](form)));
    if (linked) {
      link.href = fragment();
      history.replaceState(null, "", fragment());
    }
  }

  function showChain() {
    const words = (order) => {
      const form = formOf(order);
      return form.wrong ? "failed" : count(form.nodes, "node");
    };
    chain.replaceChildren(make("li", {}, make("b", {}, "as written"), make("span", {}, words([]))),
      ...now.order.map((n, at) => {
        const arrow = (by, sign, way) => make("button", { type: "button", "data-by": by,
          disabled: at + by < 0 || at + by >= now.order.length, class: "pg-quiet",
          "aria-label": `${passes[n]}: ${way}`, onclick: () => swap(at, by) }, sign);
        return make("li", {}, make("b", {}, passes[n]),
          make("span", {}, words(now.order.slice(0, at + 1))),
          make("span", {}, arrow(-1, "‹", "earlier"), arrow(1, "›", "later")));
      }));
  }

  function showStatus(form) {
    const here = program().ends[place.get(now.order.join(""))];
    const same = program().ends.filter((end) => end === here).length;
    const different = program().forms.filter((one) => !one.wrong).length;
    const orders = `${same} of ${program().ends.length} orders end here; together they end in ` +
      `${count(different, "different graph")}.`;
    status.textContent = form.wrong ? `A pass failed. ${orders}` :
      `${count(form.nodes, "node")}, ${count(form.kernels, "kernel")}, ` +
      `${count(form.bytes, "byte")} read and written. ${orders}`;
  }

  function showStep() {
    const steps = kernel() ? kernel().steps : [];
    stepper.hidden = !steps.length || !STEPPED.includes(now.view);
    now.step = Math.min(now.step, Math.max(steps.length - 1, 0));
    if (!steps.length) return;
    range.max = steps.length - 1;
    range.value = now.step;
    const words = `step ${now.step} of ${steps.length - 1}: ${steps[now.step].step}`;
    range.setAttribute("aria-valuetext", words);
    stepName.textContent = words;
    back.disabled = now.step === 0;
    on.disabled = now.step === steps.length - 1;
  }

  const caption = (words) => make("p", { class: "pg-caption" }, ...marked(words));
  const ofKernel = (words, draw) => () => kernel() ?
    [caption(`\`@${kernel().name}\`, the kernel that executes most operations: ${words}`),
      ...draw(kernel())] : [caption("No kernel of this graph has loops.")];
  const atStep = (key) => (of) => [listing(texts[of.steps[now.step][key]],
    key === "loops" && now.step ? texts[of.steps[now.step - 1][key]] : null)];
  const views = {
    graph: (form) => {
      const before = now.order.length ? formOf(now.order.slice(0, -1)) : form;
      const drawing = make("div", { class: "pg-drawing" });
      drawing.innerHTML = texts[form.drawing];
      return [drawing, caption(now.order.length ?
        `As text; marked with + is what \`${passes[now.order.at(-1)]}\` wrote.` : "As text."),
      listing(texts[form.text], texts[before.text])];
    },
    loops: ofKernel("its loops; marked with + is what the last step wrote.", atStep("loops")),
    llvm: ofKernel(`LLVM IR after LLVM's optimizer, for ${data.processor}.`, atStep("llvm")),
    assembly: ofKernel(`assembly for ${data.processor}.`, atStep("assembly")),
    ptx: ofKernel(`PTX for ${data.gpu}. It starts from the loops as lowered: each point of the ` +
      "result is a thread, and no step of the schedule is in it.", (of) => [listing(texts[of.ptx], null)]),
    counts: (form) => counts(form, formOf([]), kernel()),
  };

  function counts(form, first, of) {
    const rows = [["nodes", "nodes"], ["kernels", "kernels"],
      ["bytes", "bytes that kernels read and write"], ["flops", "FLOPs, each value computed once"],
      ["executed", "FLOPs that the loops execute"]];
    const tables = [table("The whole graph", ["", "no pass", "these passes"],
      rows.map(([key, words]) => [words, shown(first[key] ?? null), shown(form[key])]), -1)];
    if (of) tables.push(table(`The main kernel, @${of.name}, after each step`,
      ["step", "fused multiply-adds", "clocks, by the price model"],
      of.steps.map((s) => [s.step, shown(s.fmas), shown(s.clocks)]), now.step));
    return tables;
  }

  function table(title, heads, rows, current) {
    return make("table", {}, make("caption", {}, title),
      make("thead", {}, make("tr", {}, ...heads.map((h) => h ? make("th", { scope: "col" }, h) : make("td")))),
      make("tbody", {}, ...rows.map(([head, ...cells], n) =>
        make("tr", n === current ? { class: "pg-now", "aria-current": "step" } : {},
          make("th", { scope: "row" }, head), ...cells.map((cell) => make("td", {}, cell))))));
  }

  // The fragment, there and back.
  function fragment() {
    const order = now.order.map((n) => passes[n]).join(",") || "none";
    return `#${[program().name, order, now.step, now.view].join("/")}`;
  }
  function read() {
    const [name, order = "", step, view] = location.hash.slice(1).replaceAll("%2C", ",").split("/");
    const at = programs.findIndex((one) => one.name === name);
    if (at < 0) return;
    const chosen = order.split(",").map((pass) => passes.indexOf(pass)).filter((n) => n >= 0);
    Object.assign(now, { program: at, order: [...new Set(chosen)],
      step: Math.max(0, Math.trunc(Number(step)) || 0),
      view: VIEWS.some(([known]) => known === view) ? view : "graph" });
  }
  if (linked) {
    read();
    addEventListener("hashchange", () => { read(); show(); });
  }
  show();
}

// In a notebook: which passes are the learner's own.
function whose({ passes, yours }) {
  if (!yours) return [];
  const names = (own) => passes.filter((_, n) => yours.includes(n) === own)
    .map((name) => `\`${name}\``).join(", ");
  const parts = [[names(true), "Yours"], [names(false), "the library's"]];
  const words = yours.length ? parts.filter(([some]) => some).map((part) => part[1] + ": " + part[0])
    .join("; ") + "." : "All are the library's: nothing is plugged in in this kernel.";
  return [make("p", { class: "pg-hint" }, ...marked(words))];
}

// What a pass that failed said: the first line is the sentence, the others are where and what.
function failure(words) {
  const [first, ...rest] = words.split("\n"), more = rest.join("\n").trim();
  return make("section", { class: "pg-wrong", "aria-label": "A pass failed" },
    make("p", {}, make("b", {}, first[0].toUpperCase() + first.slice(1))),
    ...(more ? [make("pre", { class: "pg-text" }, more)] : []));
}

// `code` in backticks, as elements.
function marked(words) {
  return words.split("`").map((part, n) => (n % 2 ? make("code", {}, part) : part));
}

// A program as lines; what the text before does not have is marked. Numbers of values and
// indents do not count.
function listing(text, before) {
  const plain = (line) => line.trim().replace(/%\d+/g, "%");
  const left = new Map();
  for (const line of (before ?? text).split("\n").map(plain))
    left.set(line, (left.get(line) || 0) + 1);
  const lines = text.split("\n").map((line) => {
    const old = left.get(plain(line)) > 0;
    left.set(plain(line), (left.get(plain(line)) || 0) - 1);
    const sign = before === null ? "" : old ? "  " : "+ ";
    return make("span", old ? {} : { class: "pg-new" }, `${sign}${line}\n`);
  });
  return make("pre", { class: "pg-text" }, ...lines);
}
