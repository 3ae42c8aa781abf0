import { parseDataPath } from '../../rego/index.js'
import { wrongUse } from '../session/session.js'

/** One step of a reference: `.name`, `["text"]` or `[1]`. */
const STEP = /\.([^.[\]/]+)|\[("(?:[^"\\]|\\.)*"|\d+)\]/y

/** A step with a quoted name, and what stands in queries that are more than a reference. */
const QUOTED = /\["(?:[^"\\]|\\.)*"\]/g
const EXPRESSION = /[\s;:=<>!(){}|&+*,"`]/
const DOCUMENT_FILE = /^[^\s"]+\.(?:json|ya?ml)$/

/**
 * The segments of `a/b/c` or `/a/b/c`, where `%2F` is a slash inside a segment, or of a reference, `data.a["b/c"]`. Raises
 * `invalid` for a broken escape.
 */
export function parseEntrypoint(text: string): string[] {
  const path = readReference(text) ?? parseDataPath(text.replace(/^\/?data\//, '/'))
  return path.filter((segment) => segment !== '')
}

/**
 * The path that a query asks for: a reference below `data`, or a path with slashes. Raises `invalid` for a query that is more than that, which only a
 * compiler evaluates, and for the name of a file.
 */
export function parseQuery(text: string): string[] {
  const trimmed = text.trim()
  const bare = trimmed.replaceAll(QUOTED, '')
  const isPath = /^data(?:[.[]|$)/.test(trimmed) ? readReference(trimmed) !== undefined : bare.includes('/')
  if (isPath && !EXPRESSION.test(bare)) return parseEntrypoint(trimmed)
  if (DOCUMENT_FILE.test(trimmed))
    throw wrongUse(`'${trimmed}' is a file, not a query: an input is given with --input ${trimmed}`)
  throw wrongUse(
    `the query '${text}' is more than a path of data: write it as a rule and name that, as in data.a.b (opa eval evaluates queries)`,
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
