import type { ErrorDetail } from '../errors.js'
import type { Origin } from './layered-values.js'

/** `auth.tokens[0].sha256`: a path as people write it. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`
    return text === '' ? String(segment) : `${text}.${String(segment)}`
  }, '')
}

/** A problem with one key: what is wrong, and where the value comes from. */
export function keyProblem(
  code: string,
  path: readonly PropertyKey[],
  text: string,
  origin: Origin | undefined,
): ErrorDetail {
  const from = origin === undefined ? '' : ` (${origin})`
  return { code, message: `${pathText(path)}: ${text}${from}` }
}

/** `, did you mean x?`, or nothing. */
export function suggestion(nearest: string | undefined): string {
  return nearest === undefined ? '' : `, did you mean ${nearest}?`
}
