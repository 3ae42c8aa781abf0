import { parseDataPath } from '../../rego/index.js'
import { wrongUse } from '../session/session.js'

/** A step of a reference: `.name`, `["text"]` or `[1]`. */
const STEP = /\.([^.[\]/]+)|\[("(?:[^"\\]|\\.)*"|\d+)\]/y

/** A quoted step, and characters that only occur in expressions. */
const QUOTED = /\["(?:[^"\\]|\\.)*"\]/g
const EXPRESSION = /[\s;:=<>!(){}|&+*,"`]/
const DOCUMENT_FILE = /^[^\s"]+\.(?:json|ya?ml)$/

/**
 * Returns the segments of `a/b/c` or `/a/b/c`, where `%2F` is a slash within a segment, or of a
 * reference such as `data.a["b/c"]`. Raises `invalid` for a broken escape.
 */
export function parseEntrypoint(text: string): string[] {
  const path = readReference(text) ?? parseDataPath(text.replace(/^\/?data\//, '/'))
  return path.filter((segment) => segment !== '')
}

/**
 * Returns the path of a query, which must be a reference to `data` or a path with slashes. Raises
 * `invalid` for expressions, which need a compiler, and for file names.
 */
export function parseQuery(text: string): string[] {
  const trimmed = text.trim()
  const bare = trimmed.replaceAll(QUOTED, '')
  const isPath = /^data(?:[.[]|$)/.test(trimmed) ? readReference(trimmed) !== undefined : bare.includes('/')
  if (isPath && !EXPRESSION.test(bare)) return parseEntrypoint(trimmed)
  if (DOCUMENT_FILE.test(trimmed))
    throw wrongUse(`'${trimmed}' is a file, not a query; pass it with --input ${trimmed}`)
  throw wrongUse(
    `the query '${text}' is not a path of data. Write a rule and name it, as in data.a.b, or use opa eval.`,
  )
}

function readReference(text: string): string[] | undefined {
  if (!/^data(?:[.[]|$)/.test(text)) return undefined
  const segments: string[] = []
  STEP.lastIndex = 'data'.length
  while (STEP.lastIndex < text.length) {
    const [, name, bracketed = ''] = STEP.exec(text) ?? []
    if (name === undefined && bracketed === '') return undefined
    segments.push(name ?? String(readBracketed(bracketed)))
  }
  return segments
}

function readBracketed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
