import { VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'

/** One value for what an object prints of itself behind its identity: `Token{a64f992 Record{de9231d app t761 f}}`. */
export function joinObjects(line: ScannedLine): ScannedLine {
  if (!line.words.includes('{')) return line
  const joined: ScannedLine = { words: [], gaps: [] }
  let at = 0
  while (at < line.words.length) {
    joined.words.push(line.words[at] ?? '')
    joined.gaps.push(line.gaps[at] ?? 0)
    at = isIdentity(line, at) ? closingBrace(line.words, at) : at + 1
  }
  return joined
}

/** The value right behind the brace of a named object, with more of the object after a space. */
function isIdentity({ words, gaps }: ScannedLine, at: number): boolean {
  if (words[at] !== VALUE || words[at - 1] !== '{' || gaps[at] !== 0 || gaps[at - 1] !== 0) return false
  return /^\p{L}/u.test(words[at - 2] ?? '') && (gaps[at + 1] ?? 0) > 0
}

/** The place of the brace that closes the one before `start`; the next place when none does. */
function closingBrace(words: readonly string[], start: number): number {
  let depth = 1
  for (let at = start + 1; at < words.length; at += 1) {
    if (words[at] === '{') depth += 1
    if (words[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  return start + 1
}
