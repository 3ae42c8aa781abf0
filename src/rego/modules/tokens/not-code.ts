/** A comment, a string or a raw string. */
interface NotCode {
  /** The offset after it; of one without an end, that of the end of its line or of the text. */
  readonly end: number
  readonly isComplete: boolean
}

const END_OF_STRING = /["\\\n]/g
const START = /["`#]/g

/**
 * Returns the comment, string or raw string that begins at `at`; undefined if none does. Reading a
 * whole text takes time proportional to its length, and no stack, whether it is valid or not.
 */
export function notCodeAt(text: string, at: number): NotCode | undefined {
  switch (text[at]) {
    case '#':
      return { end: endOfLine(text, at), isComplete: true }
    case '`': {
      const quote = text.indexOf('`', at + 1)
      return { end: quote === -1 ? text.length : quote + 1, isComplete: quote !== -1 }
    }
    case '"':
      return stringAt(text, at)
    default:
      return undefined
  }
}

function stringAt(text: string, start: number): NotCode {
  END_OF_STRING.lastIndex = start + 1
  for (let stop = END_OF_STRING.exec(text); stop !== null; stop = END_OF_STRING.exec(text)) {
    if (stop[0] === '"') return { end: stop.index + 1, isComplete: true }
    if (stop[0] === '\n') return { end: stop.index, isComplete: false }
    if (text[stop.index + 1] !== '\n') END_OF_STRING.lastIndex = stop.index + 2
  }
  return { end: text.length, isComplete: false }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/**
 * Returns the source with comments and the contents of strings blanked out; columns and lines stay.
 */
export function codeOnly(text: string): string {
  let out = ''
  START.lastIndex = 0
  for (let start = START.exec(text); start !== null; start = START.exec(text)) {
    const { end = start.index + 1, isComplete } = notCodeAt(text, start.index) ?? {}
    const quote = start[0] === '#' ? 0 : 1
    // Quotes stay.
    const [from, to] = [start.index + quote, isComplete === true ? end - quote : end]
    out += text.slice(out.length, from) + blank(text.slice(from, to))
    START.lastIndex = end
  }
  return out + text.slice(out.length)
}

function blank(text: string): string {
  return text.replace(/[^\n]+/g, (line) => ' '.repeat(line.length))
}
