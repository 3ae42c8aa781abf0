import { describe, expect, it } from 'vitest'

import { readEvent } from '../../../src/events/read-event.js'
import { registryChanges } from '../../../src/events/registry/registry-changes.js'
import type { EventBody } from '../../support/orchestrator-events.js'
import {
  base64Json,
  changeEvent,
  changeStage,
  flattened,
  pipelineEvent,
} from '../../support/orchestrator-events.js'

function changesOf(event: EventBody) {
  return registryChanges(readEvent(Buffer.from(JSON.stringify(event)), 'echo', 1))
}

const WHEN = { changedAt: 1_718_000_004_900, changedBy: 'ana' }
const PIPELINE = { name: 'prod-rollout', application: 'shop', stages: [] }
const SAVED = {
  type: 'pipeline.upserted',
  application: 'shop',
  pipeline: 'prod-rollout',
  pipelineId: '7c1e',
  created: true,
  definition: { ...PIPELINE, id: '7c1e' },
  ...WHEN,
}
const SAVE_CONTEXT = {
  'notification.type': 'savepipeline',
  application: 'shop',
  'pipeline.name': 'prod-rollout',
  'pipeline.id': '7c1e',
}
const APPLICATION = { name: 'shop', email: 'shop@example.org', cloudProviders: 'kubernetes' }

describe('a saved pipeline', () => {
  it.each<readonly [string, unknown]>([
    ['Base64', base64Json(PIPELINE)],
    ['an object', PIPELINE],
    ['a text of JSON', JSON.stringify(PIPELINE)],
  ])('carried as %s is read', (_, pipeline) => {
    const event = changeEvent([changeStage('savePipeline', { ...SAVE_CONTEXT, pipeline })])
    expect(changesOf(event)).toEqual({ changes: [SAVED], unread: [] })
    expect(changesOf(flattened(event)).changes).toEqual([SAVED])
  })

  it('that had an id before is an update', () => {
    const pipeline = base64Json({ ...PIPELINE, id: '7c1e' })
    for (const type of ['savePipeline', 'updatePipeline']) {
      const event = changeEvent([changeStage(type, { ...SAVE_CONTEXT, pipeline })])
      expect(changesOf(event).changes).toEqual([{ ...SAVED, created: false }])
    }
  })

  it('is known by its notification under any stage type, and gets the names of the context', () => {
    const context = { ...SAVE_CONTEXT, pipeline: { name: ' prod-rollout ', stages: [] } }
    const { changes } = changesOf(
      changeEvent([changeStage('ourSave', context, { endTime: 1_718_000_004_000 })]),
    )
    expect(changes).toEqual([{ ...SAVED, changedAt: 1_718_000_004_000 }])
  })

  it.each([
    ['is no JSON', 'bm90IGpzb24='],
    ['is cut off', base64Json(PIPELINE).slice(0, 20)],
    ['is missing', undefined],
    ['has no name', { application: 'shop' }],
    ['is nested too deeply', Buffer.from('['.repeat(50_000)).toString('base64')],
  ])('that %s is reported', (_, pipeline) => {
    const event = changeEvent([changeStage('savePipeline', { application: 'shop', pipeline })])
    expect(changesOf(event)).toEqual({
      changes: [],
      unread: [
        'event 0b6c8a52-2f0e-4a0b-8a55-b3a0f3b0b7de: the change of its stage savePipeline cannot be read',
      ],
    })
  })
})

describe('a bulk save', () => {
  const pipelines = base64Json([
    { name: 'One', application: 'shop', id: '1' },
    { name: 'two', application: 'other' },
    { name: 'three' },
  ])
  const context = { isBulkSavingPipelines: true, application: 'shop', pipelines }

  it('changes each of its pipelines', () => {
    const { changes } = changesOf(changeEvent([changeStage('savePipeline', context)]))
    expect(changes).toMatchObject([
      { application: 'shop', pipeline: 'One', pipelineId: '1', created: false },
      { application: 'other', pipeline: 'two', pipelineId: undefined, created: true },
      { application: 'shop', pipeline: 'three', pipelineId: undefined, created: true },
    ])
  })

  it('changes those that were saved when others failed, even if the stage failed with them', () => {
    const bulksave = {
      successful_pipelines: ['two', 'three'],
      failed_pipelines: [{ name: 'one', errorMsg: 'a pipeline of that name exists' }],
    }
    const stage = changeStage('savePipeline', { ...context, bulksave }, { status: 'TERMINAL' })
    const event = changeEvent([stage], { status: 'TERMINAL' })
    const failed = { ...event, details: { type: 'orca:orchestration:failed' } }
    expect(changesOf(failed).changes).toMatchObject([{ pipeline: 'two' }, { pipeline: 'three' }])
  })
})

describe('other changes', () => {
  it.each(['createApplication', 'updateApplication', 'upsertApplication'])('%s', (type) => {
    const context = {
      'notification.type': 'upsertapplication',
      'application.name': 'shop',
      previousState: {},
      newState: APPLICATION,
      application: { name: 'shop', email: 'before' },
    }
    expect(changesOf(changeEvent([changeStage(type, context)])).changes).toEqual([
      { type: 'application.upserted', application: 'shop', definition: APPLICATION, ...WHEN },
    ])
  })

  it('an application whose new state was not sent', () => {
    const stage = changeStage('createApplication', { application: APPLICATION, newState: {} })
    expect(changesOf(changeEvent([stage])).changes).toEqual([
      { type: 'application.upserted', application: 'shop', definition: APPLICATION, ...WHEN },
    ])
  })

  it('a deleted application', () => {
    for (const context of [{ 'application.name': 'shop' }, { application: { name: 'shop' } }]) {
      expect(changesOf(changeEvent([changeStage('deleteApplication', context)])).changes).toEqual([
        { type: 'application.deleted', application: 'shop', ...WHEN },
      ])
    }
  })

  it('a deleted pipeline', () => {
    const context = { ...SAVE_CONTEXT, 'notification.type': 'deletepipeline' }
    expect(changesOf(changeEvent([changeStage('deletePipeline', context)])).changes).toEqual([
      {
        type: 'pipeline.deleted',
        application: 'shop',
        pipeline: 'prod-rollout',
        pipelineId: '7c1e',
        ...WHEN,
      },
    ])
  })

  it.each<readonly [string, EventBody, Record<string, number>]>([
    ['an object', { idsToIndices: { a: 1, b: 0, c: 'x' } }, { a: 1, b: 0 }],
    ['Base64', { pipelines: base64Json({ a: 2 }) }, { a: 2 }],
    ['nothing', {}, {}],
  ])('pipelines in a new order, carried as %s', (_, context, indices) => {
    const stage = changeStage('reorderPipelines', { application: 'shop', ...context })
    expect(changesOf(changeEvent([stage])).changes).toEqual([
      { type: 'pipelines.reordered', application: 'shop', indices, ...WHEN },
    ])
  })

  it('several stages of one orchestration, of which only those count that were done', () => {
    const done = changeStage('deletePipeline', SAVE_CONTEXT)
    const failed = changeStage('deleteApplication', { 'application.name': 'shop' }, { status: 'TERMINAL' })
    expect(changesOf(changeEvent([done, failed, 'no stage', { type: 'wait' }])).changes).toMatchObject([
      { type: 'pipeline.deleted' },
    ])
  })
})

describe('events that change nothing', () => {
  it.each<readonly [string, EventBody]>([
    ['the end of a pipeline run', pipelineEvent()],
    ['one without content', { eventId: 'e', name: 'orca:orchestration:complete' }],
    ['an orchestration of other stages', changeEvent([changeStage('destroyServerGroup', {})])],
    [
      'the start of a save',
      { ...changeEvent([changeStage('savePipeline', {})]), details: { type: 'orca:orchestration:starting' } },
    ],
  ])('%s', (_, event) => {
    expect(changesOf(event)).toEqual({ changes: [], unread: [] })
  })
})
