import { isDeepStrictEqual } from 'node:util'

import { AppError } from '../../errors/app-error.js'
import { isRecord } from '../../lib/validation/record.js'

type Members = Readonly<Record<string, unknown>>

/**
 * Adds the document of a discovery bundle to a configuration of OPA, whose own members take
 * precedence. Raises `invalid` if the document changes the service or a key that the configuration
 * names, as in OPA: a change could not be undone by another bundle.
 */
export function mergeDiscovered(boot: unknown, discovered: unknown): unknown {
  if (!isRecord(discovered)) throw new AppError('invalid', 'the discovery document is not an object')
  const own = members(boot)
  const named: Members = { ...discovered, services: byName(discovered['services']) }
  const kept: Members = { ...own, services: byName(own['services']) }
  for (const section of ['services', 'keys'] as const) refuseChanges(section, kept[section], named[section])
  // A bundle cannot say where it comes from.
  return { ...members(merge(kept, named)), discovery: own['discovery'] }
}

/** Services may also be in a list. */
function byName(services: unknown): unknown {
  if (!Array.isArray(services)) return services ?? {}
  const listed: readonly unknown[] = services
  return Object.fromEntries(
    listed.map((each) => [isRecord(each) && typeof each['name'] === 'string' ? each['name'] : '', each]),
  )
}

function refuseChanges(section: 'services' | 'keys', boot: unknown, added: unknown): void {
  if (!isRecord(boot) || !isRecord(added)) return
  const changed = Object.keys(added).find(
    (name) => Object.hasOwn(boot, name) && !isDeepStrictEqual(boot[name], added[name]),
  )
  if (changed === undefined) return
  throw new AppError(
    'invalid',
    `the discovery document changes ${section}.${changed}, which the configuration of OPA has: change it there`,
  )
}

function merge(first: unknown, second: unknown): unknown {
  if (first === undefined) return second
  if (!isRecord(first) || !isRecord(second)) return first
  const names = new Set([...Object.keys(first), ...Object.keys(second)])
  return Object.fromEntries(
    [...names].map((name) => [name, merge(memberOf(first, name), memberOf(second, name))]),
  )
}

function memberOf(holder: Members, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined
}

function members(value: unknown): Members {
  return isRecord(value) ? value : {}
}
