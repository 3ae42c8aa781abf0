import { basename } from 'node:path'

import { AppError } from '../errors/app-error.js'
import type {
  KeptRevision,
  KeptRevisions,
  KeptSources,
  PinnedRevision,
  Policies,
  RevisionImpact,
  Snapshot,
  Staged,
  StagedPin,
} from '../rego/index.js'
import type { Writer } from '../store/ports/transaction.js'
import type { StageVerdict } from './judge-stage.js'
import { recordPin } from './record-activation.js'
import type { RecordedPin } from './record-activation.js'
import { TAKEN_BACK } from './source-set.js'
import type { SourceSet } from './source-set.js'

/** A file that differs between two revisions. */
export interface ChangedFile {
  readonly file: string
  /** The texts; undefined if the revision has no such file. */
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface RevisionControlParts {
  readonly policies: Policies
  readonly revisions: KeptRevisions
  readonly sources: Pick<SourceSet, 'activate'>
  readonly writer: Writer
  /** The known effect of a revision. */
  readonly knownImpact: { readonly find: (revision: string) => RevisionImpact | undefined }
}

type Actor = RecordedPin['actor']

/** The stored revisions of the policies: which served, what changed, and which one is pinned. */
export class RevisionControl {
  readonly #parts: RevisionControlParts
  #pinned: PinnedRevision | undefined
  #changing: Promise<unknown> = Promise.resolve()
  /** The last write of the staged pin. */
  #keeping: Promise<void> = Promise.resolve()

  constructor(parts: RevisionControlParts, pinned: PinnedRevision | undefined) {
    this.#parts = parts
    this.#pinned = pinned
  }

  /** The revision that serves until `unpin`. */
  get pinned(): PinnedRevision | undefined {
    return this.#pinned
  }

  /** Returns the stored revisions by when each began to serve, the newest first. */
  async history(): Promise<readonly KeptRevision[]> {
    return await this.#parts.revisions.served()
  }

  /** Returns the files that differ. Raises `not_found` for a revision that is not stored. */
  async diff(from: string, to: string): Promise<readonly ChangedFile[]> {
    const [before, after] = [textsIn(await this.#read(from)), textsIn(await this.#read(to))]
    return [...new Set([...before.keys(), ...after.keys()])]
      .sort()
      .map((file) => ({ file, before: before.get(file), after: after.get(file) }))
      .filter((changed) => changed.before !== changed.after)
  }

  /**
   * Serves a stored revision until `unpin`, also after a restart. Raises `not_found` for a revision
   * that is not stored, `conflict` for one that is stored in part, and as `loadSnapshot`. Nothing
   * changes then.
   */
  async pin(revision: string, actor: Actor): Promise<PinnedRevision> {
    return await this.#inTurn(() => this.#pin(revision, actor))
  }

  /**
   * Pins the revision that served before the current one; during a stage, the current one. It
   * serves immediately. Raises `conflict` if there is none.
   */
  async rollback(actor: Actor): Promise<PinnedRevision> {
    return await this.#inTurn(async () => {
      const { policies } = this.#parts
      const serving = policies.current.revision
      if (policies.staged !== undefined) return await this.#pin(serving, actor, false)
      const all = (await this.history()).filter(({ hasServed }) => hasServed)
      const current = all.findIndex(({ isServing }) => isServing)
      const before = all.slice(current + 1).find(({ revision }) => revision !== serving)
      if (before === undefined)
        throw new AppError(
          'conflict',
          `no revision before ${serving} is stored, so there is nothing to go back to`,
        )
      return await this.#pin(before.revision, actor, false)
    })
  }

  /** Serves the configured policies again. Raises `conflict` if none is pinned. */
  async unpin(actor: Actor): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#pinned === undefined) throw new AppError('conflict', 'no revision is pinned')
      await this.#switchTo(undefined, undefined, actor, true)
      await this.#parts.sources.activate()
    })
  }

  /**
   * Puts the staged revision into service, or takes it back, for a reason. Raises `conflict` if
   * there is none, or another one than the given one.
   */
  async endStage({ isPromoted, reason }: StageVerdict, actor: Actor, staged?: Snapshot): Promise<void> {
    await this.#inTurn(async () => {
      const { policies } = this.#parts
      const { snapshot } = policies.staged ?? {}
      if (snapshot === undefined || (staged ?? snapshot) !== snapshot)
        throw new AppError('conflict', 'no revision is staged')
      const kind = isPromoted ? 'policy.promoted' : 'policy.taken_back'
      await this.#record(kind, snapshot.revision, actor, { reason })
      await (isPromoted ? policies.promote(snapshot) : policies.takeBack(takenBack(reason), snapshot))
    })
  }

  /**
   * Begins the stage of a pin again that had not ended when the service stopped. Raises as `pin`
   * and `unpin`; the stage is then forgotten.
   */
  async resumeStage(actor: Omit<Actor, 'user'>): Promise<void> {
    const stored = await this.#parts.revisions.stagedPin()
    if (stored === undefined) return
    const { revision, user } = stored
    try {
      await (revision === undefined ? this.unpin({ ...actor, user }) : this.pin(revision, { ...actor, user }))
    } catch (raw) {
      await this.#keepStaged(undefined)
      throw raw
    }
  }

  /** Adds the begin of a stage to the trail. */
  async recordStage({ snapshot: { revision }, sharePercent }: Staged, actor: Actor): Promise<void> {
    await this.#record('policy.staged', revision, actor, { sharePercent })
  }

  async #pin(revision: string, actor: Actor, isStaged = true): Promise<PinnedRevision> {
    const { rego, data, withoutRego, dataBytesLeftOut } = await this.#read(revision)
    if (withoutRego.length > 0 || dataBytesLeftOut > 0)
      throw new AppError(
        'conflict',
        `revision ${revision} is stored in part: ${withoutRego.length > 0 ? `the bundles ${withoutRego.join(', ')} have no Rego` : 'its data files were too large (decisions.maxSourcesBytes)'}`,
      )
    const { user, nowMs } = actor
    const pinned = { revision, sinceMs: nowMs, ...(user !== undefined && { user }) }
    await this.#switchTo(pinned, { revision, rego, data }, actor, isStaged)
    return pinned
  }

  /** Stores what the next start serves before it serves, and the former one if it does not. */
  async #switchTo(
    pinned: PinnedRevision | undefined,
    sources: Parameters<Policies['pin']>[0],
    actor: Actor,
    isStaged: boolean,
  ): Promise<void> {
    const { revisions, policies, knownImpact } = this.#parts
    const stage = { hasEnded: false }
    const ended = async (): Promise<void> => {
      stage.hasEnded = true
      // A file that remains only repeats the stage after a restart.
      await this.#keepStaged(undefined).catch(() => undefined)
    }
    await policies.pin(sources, {
      isStaged,
      record: async ({ revision }) => {
        await this.#record(pinned === undefined ? 'policy.unpinned' : 'policy.pinned', revision, actor)
        await revisions.setPinned(pinned)
      },
      undo: () => revisions.setPinned(this.#pinned),
      dropped: () => void ended(),
      served: async () => {
        this.#pinned = pinned
        await ended()
        if (pinned === undefined) return
        const impact = knownImpact.find(pinned.revision)
        const by = actor.user ?? actor.origin ?? 'unknown'
        // The trail has the record in any case.
        await revisions.note({ atMs: actor.nowMs, source: 'pin', by, impact }).catch(() => undefined)
      },
    })
    const { user, nowMs } = actor
    if (!stage.hasEnded)
      await this.#keepStaged({
        revision: pinned?.revision,
        sinceMs: nowMs,
        ...(user !== undefined && { user }),
      })
  }

  async #keepStaged(pin: StagedPin | undefined): Promise<void> {
    this.#keeping = this.#keeping.catch(() => undefined).then(() => this.#parts.revisions.setStagedPin(pin))
    await this.#keeping
  }

  async #record(
    kind: RecordedPin['kind'],
    revision: string,
    actor: Actor,
    more: Pick<RecordedPin, 'reason' | 'sharePercent'> = {},
  ): Promise<void> {
    const previous = this.#parts.policies.current.revision
    const impact = this.#parts.knownImpact.find(revision)
    await this.#parts.writer.run(recordPin, { kind, revision, previous, impact, actor, ...more })
  }

  async #read(revision: string): Promise<KeptSources> {
    const sources = await this.#parts.revisions.read(revision, Infinity)
    if (sources !== undefined) return sources
    throw new AppError(
      'not_found',
      `revision ${revision} is not stored; tidegate policies history lists the stored ones`,
    )
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work)
    this.#changing = done.catch(() => undefined)
    return await done
  }
}

function takenBack(reason: string): AppError {
  return new AppError(
    'invalid',
    `the staged policies were taken back: ${reason}; correct them, or pin and promote the revision`,
    { code: TAKEN_BACK },
  )
}

function textsIn({ rego, data }: KeptSources): ReadonlyMap<string, string> {
  return new Map([
    ...rego.map(({ file, text, source = text }) => [file, source] as const),
    // Data files are named by their place in data, because their paths are private.
    ...data.map(({ file, at, content }) => {
      const text = Buffer.from(content).toString()
      return [[...at, basename(file)].join('/'), text] as const
    }),
  ])
}
