import { Registry } from 'prom-client'
import { afterEach, describe, expect, it } from 'vitest'

import { loadConfig } from '../../src/config/load-config.js'
import { addException } from '../../src/enforcement/exceptions/exception-operations.js'
import { AppError } from '../../src/errors/app-error.js'
import { makeLogger } from '../../src/lib/logger.js'
import { openEnforcement } from '../../src/main/open-enforcement.js'
import type { OpenEnforcement } from '../../src/main/open-enforcement.js'
import { Leadership } from '../../src/main/timers/leadership.js'
import type { Snapshot } from '../../src/rego/index.js'
import type { NewException } from '../../src/store/ports/exception-store.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import { useSqliteStore } from '../support/service-store.js'

const open = useSqliteStore()
const DAY_MS = 86_400_000
const snapshot = { packages: ['static/wait'], declaredLevels: new Map() } as unknown as Snapshot
const added = (untilMs: number, needsApproval = false): NewException => ({
  ...{
    package: 'static.wait',
    application: 'shop',
    pipeline: undefined,
    reason: `ends at ${untilMs}`,
    owner: 'ana',
  },
  ...{ createdMs: 1, untilMs, needsApproval },
})

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Opened extends OpenEnforcement {
  readonly registry: Registry
  readonly logText: () => string
}

async function start(store: ServiceStore): Promise<Opened> {
  let text = ''
  const registry = new Registry()
  const levels = [{ package: 'static.wiat', level: 'warn' }]
  const config = loadConfig({
    env: {},
    flags: [{ path: ['policies', 'levels'], value: levels, origin: 'test' }],
  })
  const opened = await openEnforcement(config, {
    ...{ policies: { current: snapshot }, store, leadership: new Leadership(store.leases) },
    logger: makeLogger({ level: 'info', format: 'json' }, { write: (line: string) => void (text += line) }),
    metrics: { registry },
    reloads: { add: () => undefined },
    onStop: (_, stop) => {
      stops.push(async () => {
        await stop()
      })
    },
  })
  return { ...opened, registry, logText: () => text }
}

const warningsOf = ({ health }: OpenEnforcement): (string | undefined)[] =>
  health.map(({ warning }) => warning?.())

describe('exceptions in memory', () => {
  it('follow changes of the store, and are sent to the other processes', async () => {
    const store = await open()
    const opened = await start(store)
    const sent: number[] = []
    opened.shareWith((all) => Promise.resolve(void sent.push(all.length)))
    await opened.routes.changed()
    await store.writer.run(addException, { added: added(Date.now() + DAY_MS), origin: 'test' })
    await opened.routes.changed()
    await opened.routes.changed()
    expect(opened.exceptions()).toHaveLength(1)
    expect(sent).toEqual([1])
  })

  it('are not read where there are none, so that the thread for reading need not start', async () => {
    const store = await open()
    const reader = { run: () => Promise.reject(new AppError('internal', 'the thread was started')) }
    const opened = await start({ ...store, reader })
    expect(opened.exceptions()).toEqual([])
    expect(warningsOf(opened).at(-1)).toBeUndefined()
  })

  it('stay while the store is away, which health shows', async () => {
    const store = await open()
    await store.writer.run(addException, { added: added(Date.now() + DAY_MS), origin: 'test' })
    let isAway = false
    const version = (): Promise<string | undefined> =>
      isAway ? Promise.reject(new AppError('unavailable', 'no database')) : store.lookups.exceptions.version()
    const exceptions = { ...store.lookups.exceptions, version }
    const opened = await start({ ...store, lookups: { ...store.lookups, exceptions } })
    isAway = true
    await opened.routes.changed()
    expect(opened.exceptions()).toHaveLength(1)
    expect(warningsOf(opened)).toContain(
      'exceptions cannot be read; those known before apply until their end: no database',
    )
    isAway = false
    await opened.routes.changed()
    expect(warningsOf(opened)[1]).toBeUndefined()
  })

  it('are counted by state', async () => {
    const store = await open()
    const now = Date.now()
    for (const exception of [
      added(now + DAY_MS),
      added(now + 60 * DAY_MS),
      added(now + DAY_MS + 1, true),
      added(2),
    ])
      await store.writer.run(addException, { added: exception, origin: 'test' })
    const { registry } = await start(store)
    const text = await registry.metrics()
    expect(text).toContain('tidegate_exceptions_active 2')
    expect(text).toContain('tidegate_exceptions_pending 1')
    expect(text).toContain('tidegate_exceptions_expiring 1')
  })
})

describe('a level that does nothing', () => {
  it('is in the log and in health', async () => {
    const opened = await start(await open())
    const problem = 'no loaded package matches static.wiat'
    expect(opened.logText()).toContain(problem)
    expect(warningsOf(opened)[0]).toContain(problem)
  })
})
