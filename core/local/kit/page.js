"use strict";
// What the respondent sees. Answers stay in this page; only the randomised line can be copied out of it.
const plan = JSON.parse(document.getElementById("plan").textContent);
const ask = plan.asked === "one" ? [chosenQuestion(plan.weights)] : plan.questions.map((_, place) => place);
const byId = (id) => document.getElementById(id);
const LONG_LIST = 500;

function element(kind, text, parent) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function field(column, id, parent) {
  const label = element("label", column.name, parent);
  label.htmlFor = id;
  if (column.note) element("small", column.note, parent);
  if (column.labels.length <= LONG_LIST) {
    const list = element("select", undefined, parent);
    list.id = id;
    list.required = true;
    element("option", "Choose your answer", list).value = "";
    column.labels.forEach((text, code) => (element("option", text, list).value = String(code)));
    return () => (list.value === "" ? -1 : Number(list.value));
  }
  const typed = element("input", undefined, parent);
  typed.id = id;
  typed.required = true;
  typed.setAttribute("list", `${id}-list`);
  const offered = element("datalist", undefined, parent);
  offered.id = `${id}-list`;
  column.labels.forEach((text) => (element("option", undefined, offered).value = text));
  return () => column.labels.indexOf(typed.value.trim());
}

byId("title").textContent = document.title = plan.title;
byId("howmany").textContent = plan.asked === "one" && plan.questions.length > 1
  ? `There are ${plan.questions.length} questions. This device has drawn the one that you are asked; your answer had no part in it.`
  : plan.questions.length > 1 ? `You are asked ${plan.questions.length} questions.` : "You are asked one question.";
byId("promise").textContent = plan.promise;

const readers = ask.map((place) => {
  const box = element("fieldset", undefined, byId("questions"));
  element("legend", plan.questions[place].columns.map((column) => column.name).join(" and "), box);
  return plan.questions[place].columns.map((column, at) => field(column, `answer-${place}-${at}`, box));
});

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const answers = readers.map((columns) => columns.map((read) => read()));
  if (answers.some((codes) => codes.some((code) => code < 0))) {
    byId("problem").textContent = "Please choose one of the listed answers.";
    return;
  }
  byId("problem").textContent = "";
  const pieces = [];
  ask.forEach((place, at) => {
    const question = plan.questions[place];
    const code = question.columns.reduce((sum, column, axis) => sum * column.labels.length + answers[at][axis], 0);
    const report = draw(question.law, code);
    pieces.push(`${place}:${report}`);
    element("p", told(question, report), byId("told"));
  });
  byId("line").value = reportLine(plan.id, pieces);
  byId("form").hidden = true;
  byId("result").hidden = false;
  byId("line").focus();
});

function answerText(question, code) {
  const parts = [];
  for (const column of [...question.columns].reverse()) {
    parts.unshift(column.labels[code % column.labels.length]);
    code = Math.floor(code / column.labels.length);
  }
  return `“${parts.join(", ")}”`;
}

function listed(question, hex) {
  const found = [];
  for (let place = 0; place < question.values; place++) {
    if ((parseInt(hex[hex.length - 1 - Math.floor(place / 4)], 16) >> place % 4) & 1) found.push(answerText(question, place));
  }
  return found.length <= 8 ? found.join(", ") : `${found.slice(0, 8).join(", ")} and ${found.length - 8} more`;
}

function told(question, report) {
  const kind = question.law.law;
  if (kind === "k-ary") return `The answer ${answerText(question, Number(report))} is sent, true or not. ${question.words}`;
  if (kind === "subset" || kind === "unary") return `These answers are sent together: ${listed(question, report) || "none"}. ${question.words}`;
  return `The number ${report} is sent. ${question.words}`;
}

byId("copy").addEventListener("click", () => {
  byId("line").select();
  if (navigator.clipboard) navigator.clipboard.writeText(byId("line").value).catch(() => document.execCommand("copy"));
  else document.execCommand("copy");
  byId("copied").textContent = "Copied.";
});
