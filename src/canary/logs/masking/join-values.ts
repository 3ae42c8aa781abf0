import { VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'
import { UNITS } from './vocabulary.js'

/** One value for `10.0.0.1:80`, `07:01:02`, `1,234`, a number with its unit, and a quoted name that holds a value. */
export function joinValues({ words, gaps }: ScannedLine): ScannedLine {
  const joined: ScannedLine = { words: [], gaps: [] }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const gap = gaps[at] ?? 0
    if (joined.words.at(-1) === VALUE) {
      if (isJoint(word, gap) && words[at + 1] === VALUE && gaps[at + 1] === 0) {
        at += 1
        continue
      }
      if (gap <= 1 && UNITS.has(word)) {
        dropComparison(joined, words[at + 1])
        continue
      }
      if (word === '"' && gap === 0) joinQuoted(joined)
      if (word === ']' && gap === 0 && joinRange(joined)) continue
    }
    joined.words.push(word)
    joined.gaps.push(gap)
  }
  return joined
}

function isJoint(word: string, gap: number): boolean {
  return gap === 0 && (word === ':' || word === ',')
}

/** `<1 sec` is a duration like any other. */
function dropComparison({ words, gaps }: ScannedLine, next: string | undefined): void {
  const last = words.length - 1
  if (words[last - 1] !== '<' || next === '>' || gaps[last] !== 0) return
  words.splice(last - 1, 1)
  gaps.splice(last, 1)
}

/** `"SCSI-WWID:<*>"` is one name: everything between the quotes stands without a space. */
function joinQuoted({ words, gaps }: ScannedLine): void {
  const opening = words.lastIndexOf('"')
  if (opening < 0 || gaps.slice(opening + 1).some((gap) => gap > 0)) return
  words.splice(opening + 1, words.length - opening - 1, VALUE)
  gaps.splice(opening + 1, gaps.length - opening - 1, 0)
}

/** `node-[40-63]` are many hosts written as one. Returns whether it was such a range. */
function joinRange({ words, gaps }: ScannedLine): boolean {
  const [stem, bracket] = words.slice(-3)
  if (bracket !== '[' || !stem?.endsWith('-') || gaps.at(-1) !== 0 || gaps.at(-2) !== 0) return false
  words.splice(-3, 3, VALUE)
  gaps.splice(-2, 2)
  return true
}
