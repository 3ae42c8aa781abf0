import { setTimeout as sleep } from 'node:timers/promises'

import { Agent } from 'undici'
import { startReceiver } from '../callback-receiver.js'
import { createDatabase, startPostgres } from '../postgres/postgres-server.js'
import { storeSection } from '../postgres/store-section.js'
import { PROGRAM } from '../project-root.js'
import { seededRandom } from '../random-bytes.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { waitUntil } from '../wait-until.js'
import { makeWorkspace } from '../workspace.js'
import type { Workspace } from '../workspace.js'
import { configureMixedWrites, writeBundle } from './chaos-service.js'
import { findBrokenPromises } from './check-promises.js'
import { contestGate, findContestProblems } from './contested-gates.js'
import type { Contested } from './contested-gates.js'
import type { ReplicaKillOptions } from './kill-rounds.js'
import { durableWrites, noPromises, sendWrite, UnexpectedAnswer } from './mixed-writes.js'
import type { Caller, Promised } from './mixed-writes.js'
import { twoBuilds } from './two-builds.js'
import type { OlderStarts, TwoBuilds } from './two-builds.js'

const CONTESTED_SHARE = 0.3
const UNAVAILABLE = 503
const IN_ORDER_SHARE = 0.5

interface ReplicaKillResult {
  readonly promised: Promised
  readonly contested: number
  /** Requests that were refused for a moment, which is no loss. */
  readonly refused: number
  readonly older: OlderStarts
  /** In sentences; none when nothing acknowledged was lost, decided twice or broken. */
  readonly problems: readonly string[]
}

/** Two services over one PostgreSQL, which are restarted if they are not running. */
interface Pair {
  readonly running: () => readonly TidegateProcess[]
  readonly startMissing: () => Promise<void>
  readonly callbackUrl: string
  readonly received: Awaited<ReturnType<typeof startReceiver>>['received']
  /** Problems of the trail found by either build. */
  readonly trailProblems: () => Promise<string[]>
  readonly remove: () => Promise<void>
}

/**
 * Kills (SIGKILL) one of two services again and again while both are used, and looks afterwards for
 * everything that they acknowledged.
 */
export async function killReplicasRepeatedly(options: ReplicaKillOptions): Promise<ReplicaKillResult> {
  const random = seededRandom(options.seed)
  const promised = noPromises()
  const contested: Contested = { decided: new Map(), problems: [] }
  const builds = twoBuilds(options.old, random)
  const pair = await makePair(builds)
  let refused = 0
  const noteRefused = (): void => {
    refused += 1
  }
  const load = { pair, promised, contested, random, refused: noteRefused }
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      await pair.startMissing()
      let isOver = false
      const callers = Array.from({ length: options.callers }, () => writeAnywhere(load, () => isOver))
      const before = durableWrites(promised)
      await Promise.race([untilMore(promised, before), Promise.all(callers)])
      await sleep(random() * options.longestMs)
      const running = pair.running()
      // Builds are replaced in order as well.
      const isInOrder = options.old !== undefined && random() < IN_ORDER_SHARE
      await running[Math.floor(random() * running.length)]?.end(isInOrder ? 'SIGTERM' : 'SIGKILL')
      // The other one continues alone for a while.
      await sleep(random() * options.longestMs)
      isOver = true
      await Promise.all(callers)
      options.finished?.(round)
    }
    await pair.startMissing()
    const [one, other] = pair.running()
    const problems = [
      ...(await findBrokenPromises(one?.url ?? '', promised, pair.received)),
      ...(await findContestProblems(other?.url ?? '', contested, pair.received)),
    ]
    for (const service of pair.running()) {
      const code = await service.end('SIGTERM')
      if (code !== 0) problems.push(`the last stop ended with ${code}`)
    }
    problems.push(...(await pair.trailProblems()))
    return { promised, contested: contested.decided.size, refused, older: builds.older, problems }
  } finally {
    await pair.remove()
  }
}

interface Load {
  readonly pair: Pair
  readonly promised: Promised
  readonly contested: Contested
  readonly random: () => number
  readonly refused: () => void
}

/** Sends requests of every kind to whichever service runs. */
async function writeAnywhere(load: Load, isOver: () => boolean): Promise<void> {
  const { pair, promised, contested, random, refused } = load
  const dispatcher = new Agent({ connections: 1, pipelining: 1 })
  const callerOf = ({ url }: TidegateProcess): Caller => ({
    url,
    callbackUrl: pair.callbackUrl,
    dispatcher,
    promised,
  })
  try {
    while (!isOver()) {
      const running = pair.running()
      const chosen = running[Math.floor(random() * running.length)]
      try {
        if (random() < CONTESTED_SHARE) await contestGate(running.map(callerOf), contested)
        else if (chosen !== undefined) await sendWrite(callerOf(chosen), random)
      } catch (raw) {
        if (raw instanceof UnexpectedAnswer && raw.status !== UNAVAILABLE) throw raw
        if (raw instanceof UnexpectedAnswer) refused()
        // Else the connection broke with the service: nothing was promised.
      }
    }
  } finally {
    await dispatcher.destroy()
  }
}

async function makePair(builds: TwoBuilds): Promise<Pair> {
  const server = await startPostgres()
  const receiver = await startReceiver()
  const settings = await createDatabase(server.settings, 'chaos')
  const common = makeWorkspace()
  const config = { ...configureMixedWrites(common), policies: { bundles: [writeBundle(common)] } }
  const workspaces: readonly Workspace[] = [makeWorkspace(), makeWorkspace()]
  const services: (TidegateProcess | undefined)[] = [undefined, undefined]
  const start = async (workspace: Workspace, program: string): Promise<TidegateProcess> => {
    const store = storeSection(workspace, settings)
    // An older build takes no files that a newer one has brought up to date.
    const dataDir = program === PROGRAM ? 'data' : 'older-data'
    return await startTidegate({
      ...{ workspace, directories: [], config: { ...config, store } },
      ...{ program, dataDir },
    })
  }
  const running = (): TidegateProcess[] =>
    services.flatMap((service) => (service?.isRunning() === true ? [service] : []))
  return {
    running,
    startMissing: async () => {
      await Promise.all(
        workspaces.map(async (workspace, index) => {
          if (services[index]?.isRunning() === true) return
          const isFirst = services[index] === undefined
          services[index] = await builds.start(isFirst, (program) => start(workspace, program))
        }),
      )
    },
    callbackUrl: receiver.url,
    received: receiver.received,
    trailProblems: () => builds.trailProblems(settings),
    remove: async () => {
      for (const service of running()) await service.end('SIGKILL')
      await receiver.close()
      await server.remove()
      for (const workspace of [common, ...workspaces]) workspace.remove()
    },
  }
}

async function untilMore(promised: Promised, before: number): Promise<void> {
  await waitUntil(
    () => durableWrites(promised) > before || undefined,
    () => 'nothing is acknowledged',
  )
}
