import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import { PATH_NAME, PLAIN } from './escape-contexts.js'

/** A file, and the named column, if any. */
export interface FileQuery {
  readonly path: string
  readonly column: string | undefined
}

/**
 * A template `path` or `path#column` with each placeholder replaced by its value. A value is one
 * name within the path and cannot lead elsewhere. Raises `invalid` with all problems.
 */
export function fillPath(template: string, scope: Scope): FileQuery {
  const filling = new Filling(scope)
  const [path = '', ...rest] = template.split('#')
  const column = rest.length === 0 ? undefined : filling.fill(rest.join('#'), PLAIN)
  return filling.finish({ path: filling.fill(path, PATH_NAME), column })
}
