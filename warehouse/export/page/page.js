// Finds, sorts, filters and looks; it holds no data of its own. All it shows stands in the page's HTML.
"use strict";
(() => {
  const one = (what, within = document) => within.querySelector(what);
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const root = document.documentElement;
  const english = JSON.parse(one("#words").textContent);
  const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const capital = (text) => text.trim().replace(/^./, (first) => first.toUpperCase());
  const figure = (text) => {
    const told = text.replace(/[^\d,−-]/g, "").replace("−", "-").replace(",", ".");
    return /\d/.test(told) ? Number(told) : null;
  };
  const keep = (name, value) => { try { localStorage.setItem(name, value) } catch { /* a file may not remember */ } };
  const kept = (name) => { try { return localStorage.getItem(name) } catch { return null } };
  root.classList.add("js");
  all(".tools, .filters, .paint, .zoom").forEach((tool) => { tool.hidden = false });

  // ── both languages ────────────────────────────────────────────────────────
  const said = (portuguese) => (root.lang === "en" && english[portuguese]) || portuguese;
  const [heading, ...state] = document.title.split(": ");
  const turned = []; // [text node, Portuguese, English]
  const swapped = (text) => text.replace(/[.,]/g, (mark) => (mark === "." ? "," : "."));
  function collect(within) {
    const found = [];
    const skip = "[translate=no], script, style, noscript, #tip, #count, #municipality";
    const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
      node.nodeType === Node.ELEMENT_NODE
        ? node.matches(skip) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP
        : NodeFilter.FILTER_ACCEPT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.trim();
      if (!text) continue;
      const parent = node.parentElement;
      if (english[text]) found.push([node, node.data, node.data.replace(text, english[text])]);
      else if (/\d/.test(text) && !parent.closest("small") && parent.closest(".n")) found.push([node, node.data, swapped(node.data)]);
      else if (parent.tagName === "TIME") found.push([node, node.data, parent.dateTime]);
    }
    return found;
  }
  function speak(language) {
    if (language === "en" && !turned.length) turned.push(...collect(document.body));
    root.lang = language;
    turned.forEach(([node, portuguese, other]) => { node.data = language === "en" ? other : portuguese });
    all("[aria-label], [placeholder]").forEach((element) => {
      for (const [name, own] of [["aria-label", "label"], ["placeholder", "placeholder"]]) {
        const portuguese = element.dataset[own] ?? element.getAttribute(name);
        if (portuguese === null) continue;
        element.dataset[own] = portuguese;
        element.setAttribute(name, said(portuguese));
      }
    });
    document.title = [said(heading), ...state].join(": ");
    const button = one("#language");
    button.textContent = language === "en" ? "Português" : "English";
    button.lang = language === "en" ? "pt-BR" : "en";
    button.setAttribute("aria-pressed", language === "en");
    options();
    paint();
    labels(document);
    tell();
    keep("emancipa-language", language);
  }
  // What came late speaks the language shown, and is turned with the rest from then on.
  function settle(within) {
    if (turned.length) turned.push(...collect(within));
    if (root.lang === "en") speak("en");
    labels(within);
  }
  // On a phone a row is a card: each cell says the heading of its column.
  function labels(within) {
    all(".ranking, .tests, .origin", within).forEach((table) => {
      const heads = all("thead th", table).map((head) => capital(head.textContent));
      all("tbody tr", table).forEach((row) => {
        if (!one("td[colspan]", row)) [...row.cells].forEach((cell, place) => { cell.dataset.l = heads[place] });
      });
    });
  }

  // ── the ranking ───────────────────────────────────────────────────────────
  const tables = new Map();
  const usual = (column) => (column > 2 ? -1 : 1); // figures from the largest
  function learn(box) {
    const heads = all("thead th", box);
    const rows = all("tbody tr", box).map((row, rank) => {
      const cells = [...row.cells];
      const [link, places] = [one("a", cells[1]), one("small", cells[1]).textContent];
      const id = row.dataset.a = decodeURIComponent(link.hash.slice(3));
      return {
        row, rank, id, places: places.split(" · "), status: one(".badge", row).classList[1],
        found: folded(`${link.textContent} ${places} ${id}`),
        results: cells.map((cell) => ["met", "not_met", "undetermined"].find((word) => cell.classList.contains(word))),
        values: cells.map((cell, place) =>
          place === 1 ? folded(link.textContent) : place === 2 ? rank : figure([...cell.childNodes].filter((node) => node.nodeName !== "I").map((node) => node.textContent).join(""))),
      };
    });
    tables.set(box.dataset.rule, { box, heads, rows, byId: new Map(rows.map((row) => [row.id, row])), sort: [0, 1] });
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const [now, direction] = table().sort;
        sort(column, now === column ? -direction : usual(column));
      });
    });
  }
  all(".scroll[data-rule]:has(.ranking)").forEach(learn);
  let rule = tables.keys().next().value;
  const table = () => tables.get(rule);
  let visible = [];
  const [find, place, requirement, result, order] = ["#find", "#municipality", "#requirement", "#result", "#order"].map((id) => one(id));

  function filter() {
    const words = folded(find.value).split(/\s+/).filter(Boolean);
    const statuses = new Set(all(".chips input:checked").map((box) => box.value));
    const column = requirement.value ? Number(requirement.value) : -1;
    result.disabled = column < 0;
    visible = table().rows.filter((area) => {
      const fits = statuses.has(area.status) && words.every((word) => area.found.includes(word))
        && (!place.value || area.places.includes(place.value))
        && (column < 0 || area.results[column] === result.value);
      area.row.hidden = !fits;
      return fits;
    });
    one("#none").hidden = visible.length > 0;
    tell();
    shade();
  }
  function tell() {
    const [shown, total] = [visible.length, table().rows.length].map((n) => n.toLocaleString(root.lang));
    one("#count").textContent = root.lang === "en" ? `${shown} of ${total} areas` : `${shown} de ${total} áreas`;
  }
  function sort(column, direction) {
    const { heads, rows, box } = table();
    table().sort = [column, direction];
    rows.sort((a, b) => {
      const [one, other] = [a.values[column], b.values[column]];
      if (one === null || other === null) return (one === null) - (other === null) || a.rank - b.rank;
      return (typeof one === "string" ? one.localeCompare(other, "pt") : one - other) * direction || a.rank - b.rank;
    });
    one("tbody", box).append(...rows.map((area) => area.row));
    heads.forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    order.value = `${column}`;
    filter();
  }
  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  // The choices that follow from the rule set shown, in the language shown; what was chosen stays chosen if it can.
  function options() {
    const { heads, rows, sort: [column] } = table();
    const columns = heads.map((head, at) => option(at, capital(head.textContent)));
    const tests = columns.filter((_, at) => heads[at].dataset.q);
    const places = [...new Set(rows.flatMap((area) => area.places))].sort((a, b) => a.localeCompare(b, "pt"));
    const choices = [
      [requirement, [requirement.options[0], ...tests.map((each) => each.cloneNode(true))]],
      [place, [option("", said("todos")), ...places.map((name) => option(name, name))]],
      [one("#paint"), [option("", said("Situação")), ...tests]],
      [order, columns.map((each) => each.cloneNode(true))],
    ];
    for (const [select, offered] of choices) {
      if (!select) continue;
      const chosen = select.value;
      select.replaceChildren(...offered);
      select.value = offered.some((each) => each.value === chosen) ? chosen : offered[0].value;
    }
    order.value = `${column}`;
  }
  async function choose(chosen) {
    if (!tables.has(chosen)) {
      const parts = await unpacked();
      for (const [name, last] of [["tiles", ".tiles"], ["listed", ".list .scroll"], ["asked", "#pending > div"]]) {
        const before = all(last).at(-1);
        before?.insertAdjacentHTML("afterend", parts.get(`${name} ${chosen}`));
        if (before) settle(before.nextElementSibling);
      }
      const box = all(".list .scroll").at(-1);
      const at = [...one("#rule").options].findIndex((option) => option.value === chosen);
      // Rows stand by area, where they deflate best: back into their order, by rank and then by code.
      const rows = [...table().byId.keys()].sort().map((id) => parts.get(`rows ${id}`).split("<tr>")[at]);
      const rank = (row) => Number.parseInt(row.slice("<td>".length), 10);
      one("tbody", box).innerHTML = `<tr>${rows.sort((a, b) => rank(a) - rank(b)).join("<tr>")}`;
      learn(box);
    }
    rule = chosen;
    all("[data-rule]").forEach((part) => { part.hidden = part.dataset.rule !== rule });
    options();
    filter();
    paint();
  }
  one(".filters").addEventListener("input", (event) => {
    if (event.target === order) sort(Number(order.value), usual(Number(order.value)));
    else if (event.target.id === "rule") choose(event.target.value);
    else filter();
  });
  one(".filters").addEventListener("submit", (event) => event.preventDefault());
  one(".filters").addEventListener("reset", () => setTimeout(() => { sort(0, 1); if (one("#rule")) choose(one("#rule").value) }));
  document.addEventListener("click", (event) => {
    const tile = event.target.closest?.("[data-status]");
    if (!tile) return;
    all(".chips input").forEach((box) => { box.checked = box.value === tile.dataset.status });
    filter();
  });

  // ── what is left out of the HTML of a large state under several rule sets ─
  // One deflated text of parts behind comments that name them; none where all of it stands in the page.
  async function unpacked() {
    const packed = one("#packed");
    if (!packed || unpacked.parts) return unpacked.parts ??= new Map();
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (letter) => letter.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
    const parts = text.split(/<!--(.*?)-->/);
    unpacked.parts = new Map();
    for (let at = 1; at < parts.length; at += 2) unpacked.parts.set(parts[at], parts[at + 1]);
    return unpacked.parts;
  }

  // ── the map ───────────────────────────────────────────────────────────────
  const map = one("#map");
  const shape = (code) => document.getElementById(`d${code}`);
  const districtsOf = (id) => (shape(id) ? id : articles().get(id)?.districts ?? id).split(" ");
  const outline = (id) => districtsOf(id).map((code) => shape(code)?.getAttribute("d") ?? "").join("");
  const mark = (id) => one("#chosen")?.setAttribute("d", id ? outline(id) : "");
  function paint() {
    if (!map) return;
    const column = one("#paint").value ? Number(one("#paint").value) : -1;
    all("g path", map).forEach((path) => {
      const area = table().byId.get(path.id.slice(1));
      path.setAttribute("class", !area ? "seat" : column < 0 ? area.status : area.results[column] ?? "seat");
    });
    one("[data-met]").textContent = said(column < 0 ? "elegível" : "atende");
    one("[data-not]").textContent = said(column < 0 ? "não elegível" : "não atende");
    shade();
  }
  function shade() {
    if (!map) return;
    const shown = new Set(visible.flatMap((area) => districtsOf(area.id)));
    const some = visible.length < table().rows.length;
    all("g path", map).forEach((path) => { path.style.opacity = some && !shown.has(path.id.slice(1)) ? ".25" : "" });
  }
  if (map) {
    const whole = map.viewBox.baseVal;
    const full = { x: 0, y: 0, width: whole.width, height: whole.height };
    const view = { ...full };
    const tip = one("#tip");
    const names = new Map(all("g path", map).map((path) => [path.id, path.firstChild.textContent]));
    all("title", map).forEach((title) => title.remove());
    const show = () => map.setAttribute("viewBox", [view.x, view.y, view.width, view.height].join(" "));
    const limit = () => {
      view.x = Math.min(Math.max(view.x, -view.width / 2), full.width - view.width / 2);
      view.y = Math.min(Math.max(view.y, -view.height / 2), full.height - view.height / 2);
    };
    function zoom(factor, x = view.x + view.width / 2, y = view.y + view.height / 2) {
      const wide = Math.min(Math.max(view.width / factor, full.width / 60), full.width);
      const ratio = wide / view.width;
      Object.assign(view, { x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio, width: wide, height: view.height * ratio });
      if (wide === full.width) Object.assign(view, full);
      limit();
      show();
    }
    const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    map.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && view.width === full.width && event.deltaY > 0) return;
      event.preventDefault();
      const point = at(event);
      zoom(event.deltaY < 0 ? 1.25 : 0.8, point.x, point.y);
    }, { passive: false });
    const held = new Map();
    let moved = false, apart = 0;
    map.addEventListener("pointerdown", (event) => { held.set(event.pointerId, event); moved = false; apart = 0 });
    addEventListener("pointerup", (event) => held.delete(event.pointerId));
    addEventListener("pointercancel", (event) => held.delete(event.pointerId));
    map.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (before) {
        const scale = map.getScreenCTM().a;
        const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
        if (held.size > 1) {
          held.set(event.pointerId, event);
          const [a, b] = [...held.values()];
          const distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
          const middle = at({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
          if (apart) zoom(distance / apart, middle.x, middle.y);
          apart = distance;
          moved = true;
        } else if (moved || Math.hypot(dx, dy) > 4) {
          moved = true;
          held.set(event.pointerId, event);
          Object.assign(view, { x: view.x - dx / scale, y: view.y - dy / scale });
          limit();
          show();
        }
      }
      const path = event.target.closest("g path");
      if (!path || held.size) { tip.style.visibility = "hidden"; return }
      const area = table().byId.get(path.id.slice(1));
      const [name, where] = names.get(path.id).split(" · ");
      const title = Object.assign(document.createElement("b"), { textContent: name });
      tip.replaceChildren(title, `${where ?? ""} — ${area ? said(one(".badge", area.row).textContent) : said("sede (não é candidata)")}`);
      const box = map.parentElement.getBoundingClientRect();
      const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 6);
      const top = event.clientY - box.top + 16;
      tip.style.transform = `translate(${left}px, ${top + tip.offsetHeight > box.height ? top - tip.offsetHeight - 28 : top}px)`;
      tip.style.visibility = "visible";
      mark(area?.id);
    });
    map.addEventListener("pointerleave", () => { tip.style.visibility = "hidden"; mark(open) });
    map.addEventListener("click", (event) => {
      const path = event.target.closest("g path");
      if (path && !moved && table().byId.has(path.id.slice(1))) read(path.id.slice(1));
    });
    one(".zoom").addEventListener("click", (event) => {
      const how = event.target.dataset.zoom;
      if (how) zoom({ in: 1.6, out: 1 / 1.6, all: 1e-9 }[how]);
    });
    one("#paint").addEventListener("change", paint);
    one("#locate")?.addEventListener("click", () => {
      const id = open;
      sheet.close();
      mark(id);
      const boxes = districtsOf(id).flatMap((code) => (shape(code) ? [shape(code).getBBox()] : []));
      if (!boxes.length) return;
      const [x0, y0] = [Math.min(...boxes.map((b) => b.x)), Math.min(...boxes.map((b) => b.y))];
      const [x1, y1] = [Math.max(...boxes.map((b) => b.x + b.width)), Math.max(...boxes.map((b) => b.y + b.height))];
      const wide = Math.min(full.width, Math.max((x1 - x0) * 4, ((y1 - y0) * 4 * full.width) / full.height));
      const high = (wide * full.height) / full.width;
      Object.assign(view, { x: (x0 + x1 - wide) / 2, y: (y0 + y1 - high) / 2, width: wide, height: high });
      show();
      map.scrollIntoView({ block: "center" });
    });
    one(".list").addEventListener("pointerover", (event) => mark(event.target.closest("tbody tr")?.dataset.a));
  }

  // ── the sheets ────────────────────────────────────────────────────────────
  // They stand in the page as one text, so that a thousand of them cost nothing until one is asked for.
  const sheet = one("#sheet");
  let open = null;
  const written = new Map();
  function articles() {
    if (!written.size) {
      const parser = document.createElement("template");
      for (const part of one("#sheets").textContent.split("<article ").slice(1)) {
        const text = `<article ${part.slice(0, part.indexOf("</article>"))}</article>`;
        parser.innerHTML = text.slice(0, text.indexOf(">") + 1);
        written.set(parser.content.firstChild.id.slice(2), { text, districts: parser.content.firstChild.dataset.d });
      }
    }
    return written;
  }
  // A bar of each requirement: the threshold in the middle, a sixth of it for each doubling, both ends open.
  function bars(within) {
    for (const { cells } of all(".tests tbody tr", within)) {
      const threshold = cells.length === 6 && figure(cells[3].textContent);
      if (!threshold) continue;
      const spot = (told) => {
        const found = figure(told);
        return found === null ? null : found > 0 ? Math.round(50 + 50 * Math.max(-1, Math.min(1, Math.log2(found / threshold) / 3))) : 0;
      };
      const ends = cells[2].textContent.split(" – ").map(spot);
      const [low, value, high] = [ends[0], spot(cells[1].textContent), ends.at(-1)];
      const band = low === null || high === null ? "" : `M${low} 5H${Math.max(high, low + 1)}`;
      const drawn = band + (value === null ? "" : `M${value} 1V9`);
      if (drawn) cells[4].insertAdjacentHTML("beforeend", `<svg viewBox="0 0 100 10" aria-hidden="true"><path d="${drawn}"/></svg>`);
    }
  }
  async function read(id) {
    if (!articles().has(id)) return;
    open = id;
    const more = await unpacked();
    if (open !== id) return; // another was asked for meanwhile
    one("#reading").innerHTML = articles().get(id).text;
    const article = one("#reading article");
    one(".tests", article)?.insertAdjacentHTML("afterend", more.get(`origins ${id}`) ?? "");
    article.insertAdjacentHTML("beforeend", more.get(`sheet ${id}`) ?? "");
    const { row, places } = table().byId.get(id);
    const name = Object.assign(document.createElement("h3"), { textContent: one("a", row).textContent, translate: false });
    const who = Object.assign(document.createElement("p"), { textContent: `${places.join(" · ")} · ${id}`, className: "who", translate: false });
    article.prepend(name, who);
    bars(article);
    all("section[data-rule]", article).forEach((part) => { part.hidden = part.dataset.rule !== rule });
    if (root.lang === "en") collect(article).forEach(([node, , other]) => { node.data = other });
    const numbers = [...new Set(all('a[href^="#n"]', article).filter((note) => !note.closest("[hidden]")).map((note) => note.textContent))];
    const list = document.createElement("ol");
    list.append(...numbers.map((number) => {
      const item = one(`#n${number}`).cloneNode(true);
      item.removeAttribute("id");
      return item;
    }));
    const title = Object.assign(document.createElement("h4"), { textContent: said("Métodos e fontes das cifras") });
    one("#footnotes").replaceChildren(...(numbers.length ? [title, list] : []));
    labels(article);
    if (!sheet.open) sheet.showModal();
    sheet.scrollTop = 0;
    root.classList.add("reading-sheet");
    const near = visible.findIndex((area) => area.id === id);
    one("#previous").disabled = near <= 0;
    one("#next").disabled = near < 0 || near === visible.length - 1;
    mark(id);
    history.replaceState(null, "", `#a-${encodeURIComponent(id)}`);
  }
  sheet.addEventListener("close", () => {
    if (sheet.open) return; // the event comes late: another sheet was opened meanwhile
    root.classList.remove("reading-sheet");
    history.replaceState(null, "", location.pathname + location.search);
    const row = table().byId.get(open)?.row;
    all("tr.on").forEach((other) => other.classList.remove("on"));
    row?.classList.add("on");
    one("a", row ?? document)?.focus({ preventScroll: true });
    open = null;
    one("#reading").replaceChildren();
  });
  sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close() });
  one("#close").addEventListener("click", () => sheet.close());
  for (const [id, step] of [["#previous", -1], ["#next", 1]]) {
    one(id).addEventListener("click", () => read(visible[visible.findIndex((area) => area.id === open) + step].id));
  }
  document.addEventListener("click", (event) => {
    const to = event.target.closest?.('a[href^="#a-"]');
    if (to) { event.preventDefault(); read(decodeURIComponent(to.hash.slice(3))) }
    if (event.target.closest?.('dialog a[href^="#n"]')) { event.preventDefault(); one("#footnotes").scrollIntoView() }
    if (event.target.closest?.(".print")) print();
  });
  const follow = () => { if (location.hash.startsWith("#a-")) read(decodeURIComponent(location.hash.slice(3))) };
  addEventListener("hashchange", follow);

  // ── at the start ──────────────────────────────────────────────────────────
  one("#language").addEventListener("click", () => speak(root.lang === "en" ? "pt-BR" : "en"));
  one("#theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep("emancipa-theme", root.dataset.theme);
  });
  if (kept("emancipa-theme")) root.dataset.theme = kept("emancipa-theme");
  choose(rule);
  labels(document);
  if (kept("emancipa-language") === "en") speak("en");
  follow();
})();
