import { createReadStream } from 'node:fs'

import { AppError } from '../../errors/app-error.js'
import { refuseOtherThanText, readFailure, STDIN } from './read-document.js'

const STDIN_DESCRIPTOR = 0
/** What a line has beyond this is left out: a file without line ends must not fill the memory. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/**
 * The lines of a file, or of standard input for `-`, a chunk at a time. Lines end with `\n` or `\r\n`, and malformed UTF-8 is
 * replaced. Raises `invalid` naming the file when it cannot be read, or is compressed or UTF-16.
 */
export async function* readLines(file: string): AsyncGenerator<readonly string[]> {
  const stream =
    file === STDIN ? createReadStream('', { fd: STDIN_DESCRIPTOR, autoClose: false }) : createReadStream(file)
  const decoder = new TextDecoder()
  const name = file === STDIN ? 'standard input' : file
  let rest = ''
  let isFirst = true
  try {
    for await (const chunk of stream) {
      if (isFirst) refuseOtherThanText(chunk as Buffer, name)
      isFirst = false
      const lines = decoder.decode(chunk as Buffer, { stream: true }).split('\n')
      lines[0] = rest + (lines[0] ?? '')
      rest = shortened(lines.pop() ?? '')
      yield lines.map(withoutReturn)
    }
  } catch (raw) {
    if (raw instanceof AppError) throw raw
    throw new AppError('invalid', `read ${name}: ${readFailure(raw)}`, { cause: raw })
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function shortened(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? line.slice(0, MAX_LINE_CHARACTERS) : line
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
