import { printable } from '../../lib/text/shown-text.js'

const ASCII = /^[\u0020-\u007e]*$/
/** What takes two columns: East Asian scripts, their punctuation and full-width forms (Unicode UAX 11), and pictures. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u
/** What takes none by itself: marks upon letters, joiners. */
const COMBINING = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const HALF_WIDTH = /[\uff61-\uffdc]/u

/** How many columns of a terminal a text takes. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  return charactersOf(text).reduce((sum, character) => sum + widthOf(character), 0)
}

/** The text in at most this many columns, with `…` at its end where some of it is left out. */
export function shortenTo(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let [kept, width] = ['', 0]
  for (const character of charactersOf(text)) {
    width += widthOf(character)
    if (width >= columns) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

let characters: Intl.Segmenter | undefined

/** What people take for one character, with all its marks. */
function charactersOf(text: string): readonly string[] {
  characters ??= new Intl.Segmenter()
  return Array.from(characters.segment(text), ({ segment }) => segment)
}

function widthOf(character: string): number {
  if (HALF_WIDTH.test(character)) return 1
  if (WIDE.test(character)) return 2
  return COMBINING.test(character) ? 0 : 1
}

export { printable }

/** A text from elsewhere on one line, as a terminal may be given it. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s*[\r\n\u2028\u2029]\s*/g, ' '))
}
