import { describe, expect, test } from 'vitest'

import type { Finding } from '../../src/cli/doctor/finding.js'
import { checkOrchestrator } from '../../src/cli/doctor/check-orchestrator.js'
import { ConfigSchema } from '../../src/config/config.js'

/** Nothing listens at this address, so requests past the stub fail immediately. */
const NOWHERE = 'http://127.0.0.1:1'
const MAKING = '/dashboardservice/v4/pipelines/2147483647/gates'
const REFUSED = [403, { code: 'forbidden', message: 'no token was sent' }] as const

type Answers = Readonly<Record<string, readonly [number, unknown]>>

interface Sent {
  readonly path: string
  readonly origin: string | null
  readonly token: string | null
}

/**
 * Runs doctor against a service with these responses, and 200 with an empty list for other
 * requests. Returns the findings and the requests.
 */
async function findings(answers: Answers): Promise<{ found: Map<string, Finding>; sent: Sent[] }> {
  const sent: Sent[] = []
  const answer = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const path = new URL(request.url).pathname
    const { headers } = request
    sent.push({ path, origin: headers.get('origin'), token: headers.get('authorization') })
    const [status, body] = answers[path] ?? [200, path === '/audit' ? { records: [] } : []]
    return Promise.resolve(Response.json(body, { status }))
  }
  const { orchestrator } = ConfigSchema.parse({ orchestrator: { gateUrl: NOWHERE } })
  const address = {
    ...{ url: NOWHERE, shown: NOWHERE, token: undefined },
    fetch: answer,
    openUnknown: () => Promise.resolve(answer),
    openElsewhere: () => Promise.resolve(fetch),
  }
  const found = await checkOrchestrator(address, orchestrator)
  return { found: new Map(found.map((one) => [one.subject, one])), sent }
}

describe('tidegate orchestrator doctor', () => {
  test.each([
    [[404, { code: 'resource_not_found', message: 'no pipeline' }], 'ok', ''],
    [[403, { code: 'no_gates_from_stages', message: 'none' }], 'warning', 'set gates.fromStages'],
    [REFUSED, 'bad', 'auth.openToOrchestrator'],
    [[400, { code: 'invalid_parameter', message: 'a proxy says no' }], 'bad', 'docs/orchestrator.md'],
  ] as const)('asks for a gate as a stage does, under its name; %j is %s', async (answer, state, advice) => {
    const { found, sent } = await findings({ [MAKING]: answer })
    expect(found.get('gates of forms')).toMatchObject({ state })
    expect(found.get('gates of forms')?.advice ?? '').toContain(advice)
    expect(sent.find(({ path }) => path === MAKING)).toEqual({
      path: MAKING,
      origin: 'OpsMxApprovalStagePlugin',
      token: null,
    })
  })

  test('says for each door that is closed how it is opened', async () => {
    const forms = ['/oes/v2/policy/users/doctor/runtime', '/platformservice/v2/usergroups']
    const closed = ['/v1/staticPolicy/eval', MAKING, ...forms]
    const { found } = await findings(Object.fromEntries(closed.map((path) => [path, REFUSED])))
    for (const subject of ['saved pipelines', 'gates of forms', 'forms, runtime policies', 'forms, groups'])
      expect(found.get(subject)).toMatchObject({
        state: 'bad',
        advice: expect.stringContaining('auth.openToOrchestrator') as string,
      })
  })

  test('asks nothing more of what is no service', async () => {
    const { found, sent } = await findings({ '/': [404, {}] })
    expect([...found.values()]).toMatchObject([{ subject: 'service', state: 'bad' }])
    expect(sent).toHaveLength(1)
  })
})
