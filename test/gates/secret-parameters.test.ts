import { expect, test } from 'vitest'

import { instanceDetails } from '../../src/gates/instances/instance-view.js'
import { NOW_MS, makeGate, trail, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()

/**
 * Each holds the secret in another place or form; the plugins send parameters as objects, as lists
 * and as JSON text.
 */
const PARAMETERS = [
  [{ connectorType: 'JIRA', parameters: { jira_ticket_no: ['OPS-1'], password: 'hunter2-s3cret' } }],
  [{ connectorType: 'GIT', parameters: { repository: 'https://bot:hunter2-s3cret@git.example/shop.git' } }],
  [{ connectorType: 'JENKINS', parameters: [{ name: 'API_TOKEN', value: 'hunter2-s3cret' }] }],
  JSON.stringify([{ connectorType: 'JIRA', parameters: { apiKey: 'hunter2-s3cret' } }]),
  'https://tool.example/job?access_token=hunter2-s3cret',
]

test.each(PARAMETERS.map((toolConnectorParameters) => [toolConnectorParameters]))(
  'a secret in the parameters %j of a trigger is neither kept nor shown nor in the trail',
  async (toolConnectorParameters) => {
    const store = await open()
    const body = JSON.stringify({ executionId: '01J', imageIds: ['shop:1'], toolConnectorParameters })
    await triggered(store.writer, makeGate(), { body })
    const { request = '' } = await store.lookups.gates.findDocuments(1)
    expect(request).toContain('[redacted]')
    const shown = JSON.stringify(await instanceDetails(store.lookups, 1, NOW_MS, undefined))
    expect(shown).toContain('shop:1')
    for (const text of [request, shown, JSON.stringify(await trail(store))]) {
      expect(text).not.toContain('hunter2')
    }
  },
)

test('what an older version kept with secrets, and evidence that quotes one, is shown without', async () => {
  const { writer, lookups } = await open()
  await triggered(writer)
  const documents = {
    request: '{"toolConnectorParameters":{"password":"hunter2-s3cret"}}',
    evidence:
      '[{"connectorType":"JENKINS","output":[{"url":"https://bot:hunter2-s3cret@ci.example/job/1"}]}]',
  }
  const gates = { ...lookups.gates, findDocuments: () => Promise.resolve(documents) }
  const findGate: typeof gates.findGate = (id) => lookups.gates.findGate(id)
  const findInstance: typeof gates.findInstance = (id) => lookups.gates.findInstance(id)
  const reviewsOf: typeof gates.reviewsOf = (id) => lookups.gates.reviewsOf(id)
  const readers = { outbox: lookups.outbox, gates: { ...gates, findGate, findInstance, reviewsOf } }
  expect(await instanceDetails(readers, 1, NOW_MS, undefined)).toMatchObject({
    request: { toolConnectorParameters: { password: '[redacted]' } },
    evidence: [{ output: [{ url: 'https://[redacted]@ci.example/job/1' }] }],
  })
})
