"use strict";
// The laws of core/local/randomisers, drawn from whole numbers only. `below(bound)` is a uniform whole number in
// [0, bound) from the browser's secure generator; bounds stay below 2^53, where numbers here are exact.
const LIMIT = 2 ** 53;

function below(bound) {
  const words = new Uint32Array(2);
  const last = LIMIT - (LIMIT % bound);
  for (;;) {
    crypto.getRandomValues(words);
    const drawn = (words[0] >>> 11) * 2 ** 32 + words[1];
    if (drawn < last) return drawn % bound;
  }
}


function truthOrOther(code, size, a, b, below) {
  const drawn = below(a + (size - 1) * b) - a;
  if (drawn < 0) return code;
  const other = Math.floor(drawn / b);
  return other >= code ? other + 1 : other;
}

function hexadecimal(chosen, size) {
  let text = "";
  for (let first = 0; first < size; first += 4) {
    let digit = 0;
    for (let place = first; place < Math.min(first + 4, size); place++) if (chosen.has(place)) digit += 1 << (place - first);
    text = digit.toString(16) + text;
  }
  return text;
}

const LAWS = {
  "k-ary": (law, code, below) => String(truthOrOther(code, law.k, law.a, law.b, below)),

  unary: (law, code, below) => {
    const on = new Set();
    for (let place = 0; place < law.k; place++) if (below(law.a + law.b) < law.b) on.add(place);
    on.delete(code);
    if (below(2)) on.add(code);
    return hexadecimal(on, law.k);
  },

  subset: (law, code, below) => {
    const inside = law.w * law.a;
    const held = below(inside + (law.k - law.w) * law.b) < inside;
    const others = law.k - 1;
    const chosen = new Set();
    for (let last = others - (held ? law.w - 1 : law.w); last < others; last++) {
      const drawn = below(last + 1);
      chosen.add(chosen.has(drawn) ? last : drawn);
    }
    const sent = new Set([...chosen].map((place) => (place >= code ? place + 1 : place)));
    if (held) sent.add(code);
    return hexadecimal(sent, law.k);
  },

  hadamard: (law, code, below) => {
    const fits = below(law.a + law.b) < law.a;
    const free = below(law.outputs / 2);
    const row = code + 1;
    let top = 1;
    while (top * 2 <= row) top *= 2;
    const report = (free % top) + Math.floor(free / top) * top * 2;
    let common = 0;
    for (let bit = 1; bit <= row; bit *= 2) {
      common += (Math.floor(report / bit) % 2) * (Math.floor(row / bit) % 2);
    }
    return String((common % 2 === 0) === fits ? report : report + top);
  },

  hashing: (law, code, below) => {
    const map = below(law.g ** law.m);
    let hashed = 0;
    for (let digit = 0, step = 1; digit < law.m; digit++, step *= law.g) {
      hashed += (Math.floor(map / step) % law.g) * (Math.floor(code / step) % law.g);
    }
    return String(map * law.g + truthOrOther(hashed % law.g, law.g, law.a, law.b, below));
  },

  window: (law, code, below) => {
    const inside = law.w * law.a;
    const drawn = below(inside + (law.k - 1) * law.b);
    if (drawn < inside) return String(code + Math.floor(drawn / law.a));
    const far = Math.floor((drawn - inside) / law.b);
    return String(far < code ? far : far + law.w);
  },

  hierarchy: (law, code, below) => {
    const level = below(law.levels.length);
    const own = law.levels[level];
    return String(law.starts[level] + Number(LAWS[own.law](own, law.blocks[level][code], below)));
  },
};

function draw(law, code, source = below) {
  return LAWS[law.law](law, code, source);
}

function chosenQuestion(weights, source = below) {
  let drawn = source(weights.reduce((sum, weight) => sum + weight, 0));
  return weights.findIndex((weight) => (drawn -= weight) < 0);
}

function checksum(text) {
  let crc = 0xffffffff;
  for (const letter of text) {
    crc ^= letter.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

function reportLine(plan, pieces) {
  const number = crypto.getRandomValues(new Uint32Array(2));
  const name = [...number].map((word) => word.toString(16).padStart(8, "0")).join("");
  const text = `rd1.${plan}.${name}.${pieces.join(",")}`;
  return `${text}.${checksum(text)}`;
}
