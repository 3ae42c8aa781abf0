import { describe, expect, test } from 'vitest'

import { PUBLIC_URL, as, useGateService } from '../support/gate-service.js'
import { ask, objectOf } from '../support/http-client.js'
import { waitUntil } from '../support/wait-until.js'

const { contractBody, get, log, pluginBody, post, put, statusOf, trigger, url } = useGateService()

describe('a gate with a policy', () => {
  test.each([
    [['OPS-1'], 'approved', 'approved by the policy release/approval'],
    [['OPS-1', 'OPS-2'], 'rejected', 'OPS-2 is In Progress'],
  ])('with %j is %s', async (tickets, status, comment) => {
    const path = '/visibilityservice/v5/approvalGates/8/trigger'
    const answer = objectOf(await post(path, pluginBody(status, tickets), as('orca')))
    const id = Number(answer['id'])
    const closed = await waitUntil(
      async () => {
        const present = await statusOf(id)
        return present['status'] === 'activated' ? undefined : present
      },
      () => `not decided: ${log()}`,
    )
    expect(closed).toEqual({ status, comment })
    const details = objectOf(await get(`/approvalGateInstances/${id}`))
    expect(details['evidence']).toMatchObject([
      { connectorType: 'JIRA', account: 'tickets', state: 'fetched' },
    ])
  })

  test('waits for approvers if the trigger names no evidence', async () => {
    const path = '/visibilityservice/v5/approvalGates/8/trigger'
    const answer = objectOf(await post(path, pluginBody('nothing'), as('orca')))
    const id = Number(answer['id'])
    await waitUntil(
      async () =>
        objectOf(await get(`/approvalGateInstances/${id}`))['isEvidencePending'] === false || undefined,
      () => 'the policy was not asked',
    )
    expect(await statusOf(id)).toMatchObject({ status: 'activated' })
  })
})

describe('the look-up of the plugins', () => {
  const stage = (name: string, type: string, app = 'shop') =>
    `/platformservice/v6/applications/${app}/pipeline/prod+roll%2Fout/reference/1/gates/${name}?type=${type}`

  test.each([
    ['approval', 'Release', '/visibilityservice/v5/approvalGates/7/trigger'],
    ['policy', 'Check+it', '/v1/data/release/approval'],
    ['policy', 'Check%20it', '/v1/data/release/approval'],
    // As a gateway encodes `Check+it` again.
    ['policy', 'Check%2Bit', '/v1/data/release/approval'],
    ['verification', 'Verify', '/autopilot/api/v5/registerCanary'],
  ])('finds where a stage of type %s called %s is sent', async (type, name, path) => {
    const answer = await get(stage(name, type))
    expect([answer.status, objectOf(answer)['gateUrl']]).toEqual([200, `${PUBLIC_URL}${path}`])
  })

  test.each([
    ['approval', 'Nothing', 404],
    ['policy', 'Nothing', 404],
    ['other', 'Release', 400],
  ])('reports what is missing for type %s and stage %s', async (type, name, status) => {
    expect((await get(stage(name, type))).status).toBe(status)
  })

  test('gives numbers for the application and the pipeline, and sets up no gates', async () => {
    const answer = objectOf(
      await get(
        '/platformservice/v1/applications/shop/pipelines/prod?gateSearch=true&refId=1&gateType=approval',
      ),
    )
    expect(answer).toMatchObject({ appName: 'shop', pipelineName: 'prod', isCustomGateFound: true })
    for (const name of ['appId', 'serviceId', 'pipelineId']) expect(Number.isInteger(answer[name])).toBe(true)
    const plus =
      '/platformservice/v1/applications/shop/pipelines/a+b?gateSearch=true&refId=1&gateType=approval'
    expect(objectOf(await get(plus))).toMatchObject({ serviceName: 'a+b', pipelineName: 'a+b' })
  })
})

describe('gates over HTTP', () => {
  test('are made, changed and removed by an admin', async () => {
    const definition = { name: 'Made', application: 'bank', approvals: 3 }
    const made = await post('/approvalGates', definition, as('root'))
    expect(made.status).toBe(201)
    const path = String(made.headers.location)
    expect(objectOf(await get(path))).toMatchObject({ ...definition, origin: 'api', isEnabled: true })
    expect((await put(path, { ...definition, approvals: 1 }, as('root'))).status).toBe(200)
    const removed = await ask(url(), { method: 'DELETE', path, headers: as('root') })
    expect(objectOf(removed)).toMatchObject({ approvals: 1, isEnabled: false })
    expect((await post(`${path}/trigger`, contractBody('x'), as('orca'))).status).toBe(409)
  })

  test('are refused to others, and with all problems together', async () => {
    const refused = await post('/approvalGates', { name: 'x' }, as('bo'))
    expect([refused.status, objectOf(refused)['message']]).toEqual([
      403,
      expect.stringContaining('the role admin'),
    ])
    const bad = await post('/approvalGates', { approvals: 0, aprovers: {} }, as('root'))
    expect(bad.status).toBe(400)
    for (const word of ['name', 'approvals', 'aprovers']) expect(bad.text).toContain(word)
    const few = { name: 'x', approvals: 2, approvers: { users: ['bo', 'Bo'] } }
    const refusedQuorum = await post('/approvalGates', few, as('root'))
    expect([refusedQuorum.status, objectOf(refusedQuorum)['message']]).toEqual([
      400,
      expect.stringContaining('approvers lists only one user and no group'),
    ])
  })

  test('list their instances page by page', async () => {
    for (const executionId of ['page-1', 'page-2', 'page-3']) await trigger(executionId)
    const first = objectOf(await get('/approvalGateInstances?gate=7&limit=2'))
    expect(first['instances']).toHaveLength(2)
    const second = objectOf(
      await get(`/approvalGateInstances?gate=7&limit=2&cursor=${String(first['next'])}`),
    )
    const ids = [first, second].flatMap(({ instances }) =>
      (instances as { id: number }[]).map(({ id }) => id),
    )
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => other - one))
    for (const none of ['', '0', '-7', '7.5']) {
      expect((await get(`/approvalGateInstances?gate=${none}`)).status).toBe(400)
    }
  })
})
