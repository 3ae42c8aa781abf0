import { describe, expect, test } from 'vitest'

import { PUBLIC_URL, as, outcome, useGateService } from '../support/gate-service.js'
import { ask, objectOf } from '../support/http-client.js'
import { waitUntil } from '../support/wait-until.js'

const { callbacks, contractBody, get, log, pluginBody, post, put, review, statusOf, trigger, url } =
  useGateService()

describe('the trigger', () => {
  test('responds as specified, and with the same instance to a repeated trigger', async () => {
    const answer = await post('/approvalGates/7/trigger', contractBody('contract'), as('orca'))
    expect(answer.status).toBe(200)
    const { id, activatedTime, ...others } = objectOf(answer)
    expect(others).toEqual({ approvalGateId: 7, approvalStatus: { status: 'activated' } })
    expect(activatedTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\.Z$/)
    expect(await trigger('contract')).toBe(id)
    expect(await statusOf(Number(id))).toEqual({ status: 'activated', comment: '' })
  })

  test.each(['v1', 'v2', 'v4', 'v5'])(
    'of the plugins at %s is accepted with one absolute Location',
    async (version) => {
      const path = `/visibilityservice/${version}/approvalGates/7/trigger`
      const answer = await post(path, pluginBody(`plugin-${version}`), as('orca'))
      expect(answer.status).toBe(202)
      const body = objectOf(answer)
      expect(answer.headers.location).toBe(
        `${PUBLIC_URL}/visibilityservice/v2/approvalGateInstances/${String(body['id'])}/status`,
      )
      expect(body).toMatchObject({
        approvalGateId: 7,
        navigationalURL: `${PUBLIC_URL}/ui/plugin-isd/approval/shop/any/7`,
      })
    },
  )

  test('takes a body in ISO-8859-1, as the orchestrator sends it', async () => {
    const text = JSON.stringify({ ...pluginBody('latin1'), customConnectorData: ['größer'] })
    const answer = await ask(url(), {
      path: '/visibilityservice/v5/approvalGates/7/trigger',
      body: Buffer.from(text, 'latin1'),
      headers: { 'content-type': 'application/json', ...as('orca') },
    })
    expect(answer.status).toBe(202)
    const details = await get(`/approvalGateInstances/${String(objectOf(answer)['id'])}`)
    expect(objectOf(details)['request']).toMatchObject({ customConnectorData: ['größer'] })
  })

  test('names every field that a body of the contract lacks', async () => {
    const answer = await post('/approvalGates/7/trigger', { executionId: 'x' }, as('orca'))
    expect(outcome(answer)).toEqual([400, 'missing_fields'])
    for (const name of Object.keys(contractBody(''))) {
      expect(answer.text.includes(`${name} is required`)).toBe(name !== 'executionId')
    }
  })

  test.each([
    ['an unknown gate', '/approvalGates/99/trigger', {}, 404, 'resource_not_found'],
    ['a gate that is no number', '/approvalGates/x/trigger', {}, 404, 'resource_not_found'],
    [
      'a callback to a metadata service',
      '/approvalGates/7/trigger',
      { approvalCallbackURL: 'http://169.254.169.254/' },
      400,
      'callback_not_allowed',
    ],
    [
      'a callback to a private network',
      '/approvalGates/7/trigger',
      { rejectionCallbackURL: 'http://10.0.0.1/' },
      400,
      'callback_not_allowed',
    ],
  ])('is refused for %s', async (_, path, more, status, code) => {
    const answer = await post(path, { ...contractBody('refused'), ...more }, as('orca'))
    expect(outcome(answer)).toEqual([status, code])
  })

  test('of a stage that is started again right after its rejection gives a new instance to decide', async () => {
    const path = '/visibilityservice/v4/approvalGates/7/trigger'
    const start = async () => {
      const { location = '' } = (await post(path, pluginBody('restarted'), as('orca'))).headers
      return { id: Number(/(\d+)\/status$/.exec(location)?.[1]), poll: location.slice(PUBLIC_URL.length) }
    }
    const first = await start()
    expect(await start()).toEqual(first)
    await review(first.id, 'bo', 'reject', 'not today')
    expect(objectOf(await get(first.poll))).toEqual({ status: 'rejected', comment: 'not today' })
    const second = await start()
    expect(second.id).toBeGreaterThan(first.id)
    expect(objectOf(await get(second.poll))).toEqual({ status: 'activated', comment: '' })
    expect(await start()).toEqual(second)
  })

  test('may have keys in its callback URLs, which only their receiver sees', async () => {
    const body = contractBody('keys')
    const rejectionCallbackURL = `${body.rejectionCallbackURL}?token=s3cret`
    const id = await trigger('keys', {}, { rejectionCallbackURL })
    await review(id, 'bo', 'reject')
    const received = await waitUntil(
      () => callbacks().find(({ path: to }) => to.includes('?')),
      () => 'no callback with a query has come',
    )
    expect(received).toMatchObject({ path: '/no?token=s3cret', body: { approvalGateInstanceId: id } })
    const settled = await waitUntil(
      async () => {
        const { text } = await get(`/outbox?subject=gate-instance:${id}`, 'eve')
        return text.includes('"delivered"') ? text : undefined
      },
      () => 'the outbox does not show the callback as delivered',
    )
    const shown = [
      settled,
      (await get(`/approvalGateInstances/${id}`)).text,
      (await get('/audit/export?executionId=keys&bodies=true', 'eve')).text,
    ]
    for (const text of shown) expect(text).toContain('/no?token=[redacted]')
    expect(`${shown.join('')}${log()}`).not.toContain('s3cret')
  })

  test('needs the role of the orchestrator', async () => {
    const path = '/approvalGates/7/trigger'
    expect((await post(path, contractBody('x'), as('bo'))).status).toBe(403)
    expect((await post(path, contractBody('x'), {})).status).toBe(401)
  })

  test('activates the instance that was reserved before', async () => {
    const body = { executionId: 'reserved' }
    const reserved = objectOf(await post('/approvalGates/7/reserve', body, as('orca')))
    expect(await statusOf(Number(reserved['id']))).toEqual({ status: 'not activated', comment: '' })
    expect(outcome(await review(Number(reserved['id']), 'bo', 'approve'))).toEqual([409, 'resource_conflict'])
    expect(await trigger('reserved')).toBe(reserved['id'])
    expect(await statusOf(Number(reserved['id']))).toMatchObject({ status: 'activated' })
  })

  test('refuses ids that are books, of a reservation as of a trigger', async () => {
    const executionId = 'x'.repeat(4097)
    const refused = [
      await post('/approvalGates/7/reserve', { executionId }, as('orca')),
      await post('/approvalGates/7/trigger', contractBody(executionId), as('orca')),
    ]
    for (const answer of refused) {
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('must not have more than 4096 characters')
    }
  })
})

describe('a review', () => {
  test('counts to the quorum, closes the instance and calls back', async () => {
    const id = await trigger('quorum')
    const first = objectOf(await review(id, 'bo', 'approve', 'fine'))
    expect(first).toMatchObject({ status: 'activated', approvals: 1, approvalsNeeded: 2 })
    const second = objectOf(await review(id, 'cy', 'approve', 'fine too'))
    expect(second).toMatchObject({ status: 'approved', approvals: 2, decidedBy: 'cy' })
    expect(await statusOf(id)).toEqual({ status: 'approved', comment: 'fine too' })
    const callback = await waitUntil(
      () => callbacks().find(({ body }) => body['approvalGateInstanceId'] === id),
      () => 'no callback came',
    )
    expect(callback).toMatchObject({
      path: '/yes',
      body: { status: 'approved', decidedBy: 'cy', executionId: 'quorum' },
    })
  })

  test('of two people simultaneously is one quorum, and everyone else learns that it is closed', async () => {
    const id = await trigger('at-once')
    const answers = await Promise.all(['bo', 'ana', 'cy'].map((name) => review(id, name, 'approve')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409])
    const refused = objectOf(answers.find(({ status }) => status === 409)!)
    expect(refused).toMatchObject({
      code: 'resource_conflict',
      errors: [{ code: 'present_state', message: 'approved' }],
    })
    const approved = answers.filter(({ text }) => text.includes('"status":"approved"'))
    expect(approved).toHaveLength(1)
  })

  test.each([
    ['the one who triggered it', 'ana', 403, 'own_trigger'],
    ['one who is no approver of this gate', 'root', 403, 'not_an_approver'],
    ['one without the role', 'eve', 403, 'forbidden'],
  ])('is refused from %s', async (who, name, status, code) => {
    const id = await trigger(`refused ${who}`, { 'x-spinnaker-user': 'ana' })
    expect(outcome(await review(id, name, 'approve'))).toEqual([status, code])
  })

  test('is refused from a claimed user in the header', async () => {
    const id = await trigger('claimed')
    const claim = { 'x-spinnaker-user': 'bo' }
    const path = `/approvalGateInstances/${id}/review`
    expect((await put(path, { action: 'approve' }, claim)).status).toBe(401)
    expect((await put(path, { action: 'approve' }, { ...claim, ...as('orca') })).status).toBe(403)
    await put(
      `/approvalGateInstances/${id}/spinnakerReview`,
      { action: 'approve' },
      { ...claim, ...as('orca') },
    )
    expect(await statusOf(id)).toMatchObject({ status: 'activated' })
  })

  test('of an unknown instance is 404, with a wrong action 400', async () => {
    expect((await review(99_999, 'bo', 'approve')).status).toBe(404)
    expect((await review(1, 'bo', 'destroy')).status).toBe(400)
  })
})

describe("the orchestrator's cancellation", () => {
  const cancel = (path: string) => put(path, { action: 'cancel', comment: 'pipeline stopped' }, as('orca'))

  test.each(['/visibilityservice/v1', '/visibilityservice/v2', ''])(
    'at %s/… is 200 as often as it comes',
    async (base) => {
      const id = await trigger(`cancel ${base}`)
      for (let time = 0; time < 2; time++) {
        const answer = await cancel(`${base}/approvalGateInstances/${id}/spinnakerReview`)
        expect([answer.status, objectOf(answer)]).toEqual([
          200,
          { id, status: 'canceled', comment: 'pipeline stopped' },
        ])
      }
      expect(await statusOf(id)).toEqual({ status: 'rejected', comment: 'pipeline stopped' })
      const alias = await get(`/visibilityservice/v2/approvalGateInstances/${id}/status`)
      expect(objectOf(alias)).toEqual({ status: 'canceled', comment: 'pipeline stopped' })
    },
  )

  test.each([{ why: 1 }, 7, null, ['a']])('counts with any reason: %j', async (comment) => {
    const id = await trigger(`odd ${JSON.stringify(comment)}`)
    const path = `/visibilityservice/v1/approvalGateInstances/${id}/spinnakerReview`
    const answer = await put(path, { action: 'cancel', comment }, as('orca'))
    expect([answer.status, objectOf(answer)['status']]).toEqual([200, 'canceled'])
  })

  test.each([
    ['without a token', {}, 'missing bearer token'],
    ['with an unknown token', { authorization: 'Bearer nobody' }, 'unknown bearer token'],
    ['with a token of another role', as('bo'), 'token bo requires the role orchestrator'],
  ])('%s is also 200, has no effect, and is once in the trail', async (who, headers, why) => {
    const id = await trigger(`no right, ${who}`)
    const path = `/visibilityservice/v1/approvalGateInstances/${id}/spinnakerReview`
    for (let time = 0; time < 20; time++) {
      const answer = await put(path, { action: 'cancel' }, headers)
      expect([answer.status, objectOf(answer)]).toEqual([
        200,
        { status: 'unknown', comment: expect.stringContaining(`nothing was done: ${why}`) as unknown },
      ])
    }
    expect(await statusOf(id)).toMatchObject({ status: 'activated' })
    const trail = await get(
      `/audit?kind=gate.review_ignored&executionId=${encodeURIComponent(`no right, ${who}`)}`,
      'eve',
    )
    expect(trail.text.split('gate.review_ignored')).toHaveLength(2)
  })

  test.each([
    [
      'an unknown instance',
      '/visibilityservice/v1/approvalGateInstances/99999/spinnakerReview',
      '{"action":"cancel"}',
    ],
    [
      'what is no number',
      '/visibilityservice/v1/approvalGateInstances/x/spinnakerReview',
      '{"action":"cancel"}',
    ],
    [
      'a body that is no JSON',
      '/visibilityservice/v1/approvalGateInstances/1/spinnakerReview',
      'null and void',
    ],
    ['no body at all', '/visibilityservice/v1/approvalGateInstances/1/spinnakerReview', ''],
  ])('of %s is also 200, because any other status is repeated without end', async (_, path, body) => {
    const answer = await ask(url(), { method: 'PUT', path, body, headers: as('orca') })
    expect(answer.status).toBe(200)
    expect(Object.keys(objectOf(answer))).toContain('status')
  })
})
