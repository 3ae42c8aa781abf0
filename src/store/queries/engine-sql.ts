import type { RawBuilder } from 'kysely'

/** SQL that the engines write differently. */
export interface EngineSql {
  /** The table of instances, read by the index of the open ones. */
  readonly openInstances: RawBuilder<unknown>
  /** The column `name` of a registry entry in lower case. */
  readonly lowerName: RawBuilder<string>
}

/** The pattern of `like … escape '\'` for texts that contain `part`. */
export function likePattern(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
}
