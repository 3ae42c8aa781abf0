import { parseDataPath } from '../../pdp/rego/data-path.js'

/** One step of a reference: `.name`, `["text"]` or `[1]`. */
const STEP = /\.([^.[\]/]+)|\[("(?:[^"\\]|\\.)*"|\d+)\]/y

/**
 * The segments of `a/b/c` or `/a/b/c`, where `%2F` is a slash inside a segment, or of a reference, `data.a["b/c"]`. Raises
 * `invalid` for a broken escape.
 */
export function parseEntrypoint(text: string): string[] {
  const path = readReference(text) ?? parseDataPath(text.replace(/^\/?data\//, '/'))
  return path.filter((segment) => segment !== '')
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
