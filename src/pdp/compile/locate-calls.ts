import type { ErrorDetail } from '../../errors.js'
import { codeOnly } from './code-only.js'
import type { RegoFile } from './collect-sources.js'

type Location = NonNullable<ErrorDetail['location']>

/** Where the sources call a built-in by name: file, row and column, counted from 1. */
export function locateCalls(files: readonly RegoFile[], name: string): Location[] {
  const call = new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}\\s*\\(`, 'g')
  return files.flatMap(({ file, text }) => {
    const code = codeOnly(text)
    return [...code.matchAll(call)].map(({ index }) => ({ file, ...position(code, index) }))
  })
}

function position(text: string, offset: number): { row: number; col: number } {
  const before = text.slice(0, offset).split('\n')
  return { row: before.length, col: (before.at(-1)?.length ?? 0) + 1 }
}
