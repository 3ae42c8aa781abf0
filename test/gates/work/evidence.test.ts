import { afterEach, describe, expect, test } from 'vitest'

import { makeToolConnector } from '../../../src/gates/connectors/make-tool-connector.js'
import type { Connector, Evidence } from '../../../src/gates/connectors/tool/connectors.js'
import { fetchEvidence, isWhole, toPolicyInput } from '../../../src/gates/work/evidence.js'
import { wait } from '../../../src/lib/outbound/back-off.js'
import { accountAt, NOW } from '../../support/connector-account.js'
import { startLoopbackServer } from '../../support/loopback-server.js'
import type { LoopbackServer } from '../../support/loopback-server.js'

let server: LoopbackServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const OPTIONS = { budgetMs: 1000, now: () => NOW, wait, random: () => 0.5 }

function evidenceOf(connectorType: string, ...output: object[]): Evidence {
  return { connectorType, account: 'a', state: 'fetched', fetchedAt: NOW, output }
}

/** A connector that ends when it is told to. */
function controlled(type: string): { connector: Connector; end: () => void } {
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const fetch: Connector['fetch'] = async () => ended.then(() => evidenceOf(type))
  return { connector: { account: 'a', connectorTypes: [type], fetch }, end: () => end() }
}

describe('the evidence for a trigger', () => {
  test('is fetched from all connectors at the same time and given in their order', async () => {
    const slow = controlled('JIRA')
    const quick = controlled('JENKINS')
    const requests = ['JIRA', 'JENKINS'].map((connectorType) => ({ connectorType, parameters: {} }))
    const fetching = fetchEvidence(requests, [quick.connector, slow.connector], OPTIONS)
    quick.end()
    slow.end()
    expect((await fetching).map(({ connectorType }) => connectorType)).toEqual(['JIRA', 'JENKINS'])
  })

  test('of a type without an account is skipped, and says what to configure', async () => {
    const [evidence] = await fetchEvidence([{ connectorType: 'BAMBOO', parameters: {} }], [], OPTIONS)
    expect(evidence).toEqual({
      connectorType: 'BAMBOO',
      account: null,
      state: 'skipped',
      fetchedAt: NOW,
      output: [],
      error: 'no account for BAMBOO is configured: add one to connectors.accounts',
    })
  })

  test('comes from the account that is called as the trigger calls it', async () => {
    const named = makeToolConnector(
      'http',
      accountAt('http://127.0.0.1:9/', { name: 'scan', connectorType: 'jfrog' }),
    )
    const other = makeToolConnector('http', accountAt('http://127.0.0.1:9/', { name: 'other' }))
    const requests = [{ connectorType: 'JFROG', parameters: {} }]
    const [evidence] = await fetchEvidence(requests, [other, named], { ...OPTIONS, budgetMs: 0 })
    expect(evidence?.account).toBe('scan')
  })

  test('of GIT comes from the first host of repositories that there is', () => {
    const hosts = (['github', 'gitlab'] as const).map((tool) =>
      makeToolConnector(tool, accountAt('http://127.0.0.1:9')),
    )
    expect(hosts.map(({ connectorTypes }) => connectorTypes.includes('GIT'))).toEqual([true, true])
  })

  test('is over when the budget is, though a tool hangs', async () => {
    server = await startLoopbackServer(() => undefined)
    const connector = makeToolConnector('jira', accountAt(server.origin))
    const requests = [{ connectorType: 'JIRA', parameters: { jira_ticket_no: ['OPS-1'] } }]
    const options = { ...OPTIONS, now: Date.now, budgetMs: 50 }
    const [evidence] = await fetchEvidence(requests, [connector], options)
    expect(evidence?.state).toBe('failed')
    expect(evidence?.error).toMatch(
      /did not answer in full within \d+ ms|the time ran out before the request/,
    )
  })
})

describe('the input of a policy', () => {
  test('joins the evidence of each type', () => {
    const evidence = [
      evidenceOf('JIRA', { jiraId: 'A-1' }),
      evidenceOf('JENKINS'),
      evidenceOf('JIRA', { jiraId: 'A-2' }),
    ]
    expect(toPolicyInput(evidence)).toEqual({
      JIRA: { output: [{ jiraId: 'A-1' }, { jiraId: 'A-2' }] },
      JENKINS: { output: [] },
    })
  })

  test.each(['failed', 'skipped'] as const)('is no basis for a decision when something is %s', (state) => {
    expect(isWhole([evidenceOf('JIRA')])).toBe(true)
    expect(isWhole([evidenceOf('JIRA'), { ...evidenceOf('JENKINS'), state }])).toBe(false)
  })
})
