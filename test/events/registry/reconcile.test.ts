import { describe, expect, it } from 'vitest'

import { definitionDigest } from '../../../src/events/registry/definition-digest.js'
import { mergeDefinition } from '../../../src/events/registry/registry-operations.js'
import type { DefinitionState } from '../../../src/events/registry/registry-operations.js'
import { Reconciliation } from '../../../src/events/registry/compare-list.js'
import type { KnownEntry } from '../../../src/events/registry/compare-list.js'
import type { RegistryChange } from '../../../src/events/registry/registry-change.js'
import type { Definition } from '../../../src/orchestrator/definition.js'
import { seededRandom } from '../../support/random-bytes.js'

const LISTED_AT = 1000
const PIPELINE = { application: 'shop', name: 'prod', id: 'p1', stages: [], lastModified: 500 }

function known(definition: Definition | undefined, entry: Partial<KnownEntry> = {}): KnownEntry {
  return {
    application: 'shop',
    pipeline: 'prod',
    pipelineId: 'p1',
    digest: definition === undefined ? undefined : definitionDigest(definition),
    changedAt: 500,
    recordedAt: 510,
    ...entry,
  }
}

function reconcile(entries: readonly KnownEntry[], listing: readonly Definition[]): RegistryChange[] {
  const reconciliation = new Reconciliation('pipelines', entries, LISTED_AT)
  const changes = listing.map((definition) => reconciliation.compare(definition))
  return [...changes.filter((change) => change !== undefined), ...reconciliation.deletions(50)]
}

/** The deletions that a list of the first pipelines implies, without tombstones. */
function missing(knownCount: number, listedCount: number, maxMissingPercent: number): RegistryChange[] {
  const definition = (index: number): Definition => ({ ...PIPELINE, name: `p${index}`, id: `id-${index}` })
  const entries = Array.from({ length: knownCount }, (_, index) =>
    known(definition(index), { pipelineId: `id-${index}` }),
  )
  const tombstones = entries.map((entry) => ({
    ...entry,
    pipelineId: `${String(entry.pipelineId)}-gone`,
    digest: undefined,
  }))
  const reconciliation = new Reconciliation('pipelines', [...entries, ...tombstones], LISTED_AT)
  for (let index = 0; index < listedCount; index++) reconciliation.compare(definition(index))
  return reconciliation.deletions(maxMissingPercent)
}

describe('a listing', () => {
  it('that says what is known changes nothing, bookkeeping apart', () => {
    expect(reconcile([known(PIPELINE)], [{ ...PIPELINE, lastModified: 900, schema: '1' }])).toEqual([])
  })

  it('is compared, and kept, without its secrets, as events are', () => {
    const redacted = { ...PIPELINE, triggers: [{ token: '[redacted]' }] }
    const listed = { ...PIPELINE, triggers: [{ token: 'hunter2' }] }
    expect(reconcile([known(redacted)], [listed])).toEqual([])
    expect(reconcile([known(PIPELINE)], [listed])).toMatchObject([{ definition: redacted }])
  })

  it('brings what no event told of', () => {
    const definition = { ...PIPELINE, lastModifiedBy: 'script' }
    expect(reconcile([], [definition])).toEqual([
      {
        type: 'pipeline.upserted',
        application: 'shop',
        pipeline: 'prod',
        pipelineId: 'p1',
        created: true,
        definition,
        changedAt: 500,
        changedBy: 'script',
      },
    ])
  })

  it('changes what is different, at a time that the merge takes for newer', () => {
    const changed = { ...PIPELINE, stages: [{ type: 'wait' }], lastModified: 400 }
    expect(reconcile([known(PIPELINE)], [changed])).toMatchObject([
      { type: 'pipeline.upserted', created: false, changedAt: 501, definition: changed },
    ])
  })

  it('deletes what it no longer has, and leaves what was deleted', () => {
    const gone = { type: 'pipeline.deleted', application: 'shop', pipeline: 'prod', pipelineId: 'p1' }
    expect(reconcile([known(PIPELINE), known(undefined, { pipelineId: 'p2' })], [])).toEqual([
      { ...gone, changedAt: LISTED_AT, changedBy: undefined },
    ])
  })

  it.each<readonly [string, number, number, number, number]>([
    ['half of many', 40, 20, 50, 20],
    ['a few of a few', 10, 0, 0, 10],
    ['all of many where every list is believed', 40, 0, 100, 40],
  ])('that lacks %s is believed', (_, knownCount, listedCount, percent, deleted) => {
    expect(missing(knownCount, listedCount, percent)).toHaveLength(deleted)
  })

  it.each<readonly [string, number, number, number]>([
    ['all of many', 11, 0, 99],
    ['more than half of many', 40, 19, 50],
    ['a share of what is not deleted yet', 30, 19, 33],
  ])('that lacks %s deletes nothing', (_, knownCount, listedCount, percent) => {
    const lacks = `the list lacks ${knownCount - listedCount} of the ${knownCount} known entries, so nothing was`
    expect(() => missing(knownCount, listedCount, percent)).toThrow(lacks)
  })

  it('brings back what was made again', () => {
    expect(reconcile([known(undefined)], [PIPELINE])).toMatchObject([{ created: true, changedAt: 501 }])
  })

  it.each<readonly [string, Partial<KnownEntry>]>([
    ['changed after it was asked for', { changedAt: LISTED_AT + 1 }],
    ['heard of after it was asked for', { recordedAt: LISTED_AT }],
  ])('undoes nothing that was %s', (_, entry) => {
    expect(reconcile([known(PIPELINE, entry)], [])).toEqual([])
    expect(reconcile([known(PIPELINE, entry)], [{ ...PIPELINE, stages: [1] }])).toEqual([])
    expect(reconcile([known(undefined, entry)], [PIPELINE])).toEqual([])
  })

  it('gives the pipeline of a bulk save its id, and knows a new one of an old name', () => {
    const nameless = known(PIPELINE, { pipeline: 'PROD', pipelineId: undefined })
    expect(reconcile([nameless], [PIPELINE])).toMatchObject([{ pipelineId: 'p1', created: false }])
    expect(reconcile([known(PIPELINE)], [{ ...PIPELINE, id: 'p2' }])).toMatchObject([
      { type: 'pipeline.upserted', pipelineId: 'p2', created: true },
      { type: 'pipeline.deleted', pipelineId: 'p1' },
    ])
  })

  it('skips entries without a name', () => {
    expect(reconcile([], [{}, { name: 'x' }, { application: 'shop' }])).toEqual([])
  })

  it('of applications knows them in any letter case', () => {
    const definition = { name: 'SHOP', email: 'a@example.org', updateTs: '700' }
    const entry = { application: 'shop', digest: definitionDigest(definition), changedAt: 1, recordedAt: 1 }
    const same = new Reconciliation('applications', [entry], LISTED_AT)
    expect([same.compare(definition), same.deletions(50)]).toEqual([undefined, []])
    const other = new Reconciliation('applications', [entry], LISTED_AT)
    expect(other.compare({ ...definition, email: 'b@example.org' })).toMatchObject({
      type: 'application.upserted',
      changedAt: 700,
    })
    expect(new Reconciliation('applications', [entry], LISTED_AT).deletions(50)).toMatchObject([
      { type: 'application.deleted', application: 'shop' },
    ])
  })
})

/** A storage service and a registry that hears of its changes late, twice or never. */
class World {
  now = 1
  readonly storage = new Map<string, Definition>()
  readonly registry = new Map<string, DefinitionState & { recordedAt: number }>()
  readonly mail: RegistryChange[] = []

  change(id: string, version: number | undefined): void {
    this.now += 10
    const names = { application: 'shop', pipeline: id, pipelineId: id, changedBy: undefined }
    if (version === undefined) {
      this.storage.delete(id)
      this.mail.push({ type: 'pipeline.deleted', ...names, changedAt: this.now + 2 })
      return
    }
    const definition = { application: 'shop', name: id, id, version }
    this.storage.set(id, { ...definition, lastModified: this.now })
    // The stage that wrote it ends after the write.
    const change = { ...names, created: false, definition, changedAt: this.now + 2 }
    this.mail.push({ type: 'pipeline.upserted', ...change })
  }

  apply(change: RegistryChange): void {
    if (change.type !== 'pipeline.upserted' && change.type !== 'pipeline.deleted') return
    const id = change.pipelineId ?? ''
    const news = {
      changedAt: change.changedAt,
      definition: change.type === 'pipeline.upserted' ? change.definition : undefined,
    }
    const before = this.registry.get(id)
    const after = mergeDefinition(before, news)
    if (after !== before) this.registry.set(id, { ...after, recordedAt: this.now })
  }

  /** The list does not contain changes made while it is read. */
  reconcile(meanwhile: () => void): void {
    this.now += 10
    const listedAt = this.now
    const listing = [...this.storage.values()]
    meanwhile()
    const entries = [...this.registry].map(([id, { definition, changedAt, recordedAt }]) =>
      known(definition, { pipeline: id, pipelineId: id, changedAt, recordedAt }),
    )
    const reconciliation = new Reconciliation('pipelines', entries, listedAt)
    for (const definition of listing) {
      const change = reconciliation.compare(definition)
      if (change !== undefined) this.apply(change)
    }
    reconciliation.deletions(50).forEach((change) => this.apply(change))
  }

  known(): unknown[] {
    return versions([...this.registry].map(([id, { definition }]) => [id, definition]))
  }

  stored(): unknown[] {
    return versions([...this.storage])
  }
}

function versions(definitions: readonly (readonly [string, Definition | undefined])[]): unknown[] {
  return definitions
    .flatMap(([id, definition]) => (definition ? [`${id}: ${String(definition['version'])}`] : []))
    .sort()
}

/**
 * Sixty steps of changes, deliveries and listings with concurrent changes. Then the rest is
 * delivered.
 */
function live(world: World, seed: number, loses: boolean): void {
  const fraction = seededRandom(seed)
  const random = (bound: number): number => Math.floor(fraction() * bound)
  const changeSomething = (): void =>
    world.change(`p${random(5)}`, random(3) === 0 ? undefined : random(1000))
  const deliverSomething = (): void => {
    const index = random(world.mail.length)
    const [change] = random(3) === 0 ? [world.mail[index]] : world.mail.splice(index, 1)
    if (change !== undefined && !(loses && random(5) === 0)) world.apply(change)
  }
  const step = (): void => [changeSomething, deliverSomething, deliverSomething][random(3)]?.()
  for (let round = 0; round < 60; round++) {
    step()
    if (random(10) === 0) world.reconcile(() => [0, 1, 2].forEach(step))
  }
  while (world.mail.length > 0) deliverSomething()
}

describe('the registry', () => {
  const seeds = Array.from({ length: 100 }, (_, seed) => seed)

  it('is right when all events have come, in any order and with listings between them', () => {
    for (const seed of seeds) {
      const world = new World()
      live(world, seed, false)
      expect(world.known(), `seed ${seed}`).toEqual(world.stored())
    }
  })

  it('is right after the next listing when events were lost', () => {
    for (const seed of seeds) {
      const world = new World()
      live(world, seed, true)
      world.reconcile(() => undefined)
      expect(world.known(), `seed ${seed}`).toEqual(world.stored())
    }
  })
})
