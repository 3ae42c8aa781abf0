import { basename } from 'node:path'

import { AppError } from '../errors/app-error.js'
import type {
  KeptRevision,
  KeptRevisions,
  KeptSources,
  PinnedRevision,
  Policies,
  RevisionImpact,
} from '../rego/index.js'
import type { Writer } from '../store/ports/transaction.js'
import { recordPin } from './record-activation.js'
import type { RecordedPin } from './record-activation.js'
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
  /** What is known of the effect of a revision. */
  readonly knownImpact: { readonly find: (revision: string) => RevisionImpact | undefined }
}

type Actor = RecordedPin['actor']

/** The stored revisions of the policies: which served, what changed, and which one is pinned. */
export class RevisionControl {
  readonly #parts: RevisionControlParts
  #pinned: PinnedRevision | undefined
  #changing: Promise<unknown> = Promise.resolve()

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

  /** Pins the revision that served before the current one. Raises `conflict` if there is none. */
  async rollback(actor: Actor): Promise<PinnedRevision> {
    return await this.#inTurn(async () => {
      const all = await this.history()
      const current = all.findIndex(({ isServing }) => isServing)
      const serving = this.#parts.policies.current.revision
      const before = all.slice(current + 1).find(({ revision }) => revision !== serving)
      if (before === undefined)
        throw new AppError(
          'conflict',
          `no revision before ${serving} is stored, so there is nothing to go back to`,
        )
      return await this.#pin(before.revision, actor)
    })
  }

  /** Serves the configured policies again. Raises `conflict` if none is pinned. */
  async unpin(actor: Actor): Promise<void> {
    await this.#inTurn(async () => {
      const { policies, sources } = this.#parts
      if (this.#pinned === undefined) throw new AppError('conflict', 'no revision is pinned')
      await this.#switchTo(undefined, (store) =>
        policies.unpin(async (next) => {
          await this.#record('policy.unpinned', next.revision, actor)
          await store()
        }),
      )
      await sources.activate()
    })
  }

  async #pin(revision: string, actor: Actor): Promise<PinnedRevision> {
    const { policies } = this.#parts
    const { rego, data, withoutRego, dataBytesLeftOut } = await this.#read(revision)
    if (withoutRego.length > 0 || dataBytesLeftOut > 0)
      throw new AppError(
        'conflict',
        `revision ${revision} is stored in part: ${withoutRego.length > 0 ? `the bundles ${withoutRego.join(', ')} have no Rego` : 'its data files were too large (decisions.maxSourcesBytes)'}`,
      )
    const { user, nowMs } = actor
    const pinned = { revision, sinceMs: nowMs, ...(user !== undefined && { user }) }
    await this.#switchTo(pinned, (store) =>
      policies.pin({ revision, rego, data }, async () => {
        await this.#record('policy.pinned', revision, actor)
        await store()
      }),
    )
    const impact = this.#parts.knownImpact.find(revision)
    const by = user ?? actor.origin ?? 'unknown'
    await this.#parts.revisions.note({ atMs: nowMs, source: 'pin', by, ...(impact && { impact }) })
    return pinned
  }

  /**
   * Stores what the next start serves within `change`, before it serves, and the former one if
   * `change` fails.
   */
  async #switchTo(
    pinned: PinnedRevision | undefined,
    change: (store: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { revisions } = this.#parts
    try {
      await change(() => revisions.setPinned(pinned))
    } catch (raw) {
      await revisions.setPinned(this.#pinned)
      throw raw
    }
    this.#pinned = pinned
  }

  async #record(kind: RecordedPin['kind'], revision: string, actor: Actor): Promise<void> {
    const previous = this.#parts.policies.current.revision
    const impact = this.#parts.knownImpact.find(revision)
    await this.#parts.writer.run(recordPin, { kind, revision, previous, impact, actor })
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
