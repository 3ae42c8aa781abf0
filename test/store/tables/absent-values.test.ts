import { expect, test } from 'vitest'

import { toStoredMessage } from '../../../src/store/tables/outbox-table.js'
import { toEntry, toVersion } from '../../../src/store/tables/registry-table.js'

test('of a message, what has no value yet is undefined, as the port says', () => {
  const message = toStoredMessage({
    ...{ id: 1, webhook_id: 'w', topic: 'gate.callback', url: 'http://a.example/', receiver: 'a' },
    ...{ headers: null, body: '{}', subject: null, application: null, execution_id: null },
    ...{ state: 'pending', attempts: 0, created_ms: 1, tried_since_ms: 1, next_attempt_ms: 1 },
    ...{ leased_until_ms: null, last_status: null, last_error: null, settled_ms: null },
  })
  expect(Object.values(message)).not.toContain(null)
  expect(message).toMatchObject({ state: 'pending', settledMs: undefined, lastStatus: undefined })
})

test('of an entry of the registry and of its versions, too', () => {
  const changed = { changed_ms: 5, changed_by: null, recorded_ms: 6, version: 2 }
  const entry = toEntry({
    ...{ id: 1, kind: 'pipeline', key: 'k', application_key: 'a', application: 'A', name: 'n' },
    ...{ pipeline_id: null, digest: null, ...changed },
  })
  const version = toVersion({
    ...{ entry_id: 1, source: 'event', seq: null, definition_bytes: null, definition: null, ...changed },
  })
  expect([entry, version].flatMap((row) => Object.values(row) as unknown[])).not.toContain(null)
  expect([entry.changedMs, entry.recordedMs, version.changedMs, version.recordedMs]).toEqual([5, 6, 5, 6])
})
