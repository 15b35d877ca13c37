// The text of modules, as lists of lists: `(i32.add (local.get $0) (i32.const 1))` is ['i32.add', ['local.get', '$0'], ['i32.const', '1']].

/** The lists of a text. */
export function parse(text) {
  const open = [[]];
  for (const [token] of text.matchAll(/[()]|(?:[^\s()"]|"(?:[^"\\]|\\.)*")+/g)) {
    if (token === '(') open.push([]);
    else if (token === ')') open.at(-2).push(open.pop());
    else open.at(-1).push(token);
  }
  return open[0];
}

/** The text of a list. */
export function print(list) {
  const parts = [];
  const write = one => {
    if (typeof one === 'string') return void parts.push(one, ' ');
    parts.push('(');
    one.forEach(write);
    parts.push(')');
  };
  write(list);
  return parts.join('');
}

/** Does something with a list and all lists in it, outer ones first. */
export function walk(list, act) {
  act(list);
  for (const one of list) if (typeof one !== 'string') walk(one, act);
}

const HEADS = ['type', 'param', 'result', 'local'];

/** The place of the first statement in the list of a function, a block, a loop or an arm. */
export function bodyAt(list) {
  let at = 1;
  while (at < list.length && (typeof list[at] === 'string' || HEADS.includes(list[at][0]))) at += 1;
  return at;
}

/** Types in the head of a list: `of(list, 'result')`. */
export const typesOf = (list, word) => list.filter(one => one[0] === word).flatMap(one => one.slice(1).filter(type => !type.startsWith('$')));
