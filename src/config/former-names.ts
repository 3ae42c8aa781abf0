import { ownMember } from '../lib/own-member.js'
import { configKeys, envName } from './config-keys.js'
import type { ConfigKey } from './config-keys.js'
import type { OriginatedValue } from './values/layered-values.js'

/** Key names of earlier releases. They are accepted but not documented. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  'analysis.concurrentLooks': 'analysis.concurrentIntervals',
}

/** Keys of earlier releases without an effect. Files that set them are accepted. */
const REMOVED: readonly string[] = ['server.fastLane']

export function isRemoved({ path }: OriginatedValue): boolean {
  return REMOVED.includes(path.join('.'))
}

export function isRemovedVariable(name: string): boolean {
  return REMOVED.some((key) => envName(key.split('.')) === name)
}

/** Returns a value under the current name of its key. */
export function withCurrentName(value: OriginatedValue): OriginatedValue {
  const current = ownMember(FORMER_NAMES, value.path.join('.'))
  return current === undefined ? value : { ...value, path: current.split('.') }
}

/** Keys by their environment variables of earlier releases. */
export function keysByFormerVariable(): [variable: string, key: ConfigKey][] {
  return Object.entries(FORMER_NAMES).flatMap(([former, current]) => {
    const key = configKeys.find(({ path }) => path.join('.') === current)
    return key === undefined ? [] : [[envName(former.split('.')), key] as [string, ConfigKey]]
  })
}
