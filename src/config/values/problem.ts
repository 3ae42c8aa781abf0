import type { ErrorDetail } from '../../errors/app-error.js'
import { pathText } from '../../lib/text/path-text.js'
import type { Origin } from './layered-values.js'

/** Describes a problem with one key, including the origin of its value. */
export function keyProblem(
  code: string,
  path: readonly PropertyKey[],
  text: string,
  origin: Origin | undefined,
): ErrorDetail {
  const from = origin === undefined ? '' : ` (${origin})`
  return { code, message: `${pathText(path)}: ${text}${from}` }
}
