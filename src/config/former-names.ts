import { ownMember } from '../lib/own-member.js'
import { configKeys, envName } from './config-keys.js'
import type { ConfigKey } from './config-keys.js'
import type { OriginatedValue } from './values/layered-values.js'

/** The names that keys had in earlier releases: they are taken as before, but not documented. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  'analysis.concurrentLooks': 'analysis.concurrentIntervals',
}

/** Keys of earlier releases that have no effect any more: files that set them are still accepted. */
const REMOVED: readonly string[] = ['server.fastLane']

export function isRemoved({ path }: OriginatedValue): boolean {
  return REMOVED.includes(path.join('.'))
}

export function isRemovedVariable(name: string): boolean {
  return REMOVED.some((key) => envName(key.split('.')) === name)
}

/** A value under the name that its key has now. */
export function withCurrentName(value: OriginatedValue): OriginatedValue {
  const current = ownMember(FORMER_NAMES, value.path.join('.'))
  return current === undefined ? value : { ...value, path: current.split('.') }
}

/** Keys by the environment variables that set them in earlier releases. */
export function keysByFormerVariable(): [variable: string, key: ConfigKey][] {
  return Object.entries(FORMER_NAMES).flatMap(([former, current]) => {
    const key = configKeys.find(({ path }) => path.join('.') === current)
    return key === undefined ? [] : [[envName(former.split('.')), key] as [string, ConfigKey]]
  })
}
