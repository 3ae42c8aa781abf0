import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { answerProblemsBy } from '../support/openapi/answer-problems.js'
import type { AnswerProblems } from '../support/openapi/answer-problems.js'
import { BEARERS, asRole, startDescribedService } from '../support/openapi/described-service.js'
import type { DescribedService } from '../support/openapi/described-service.js'
import { openApiOperations } from '../support/openapi/operations.js'
import type { DescribedOperation } from '../support/openapi/operations.js'
import { sampleRequest } from '../support/openapi/sample-requests.js'
import { examplePath, servedRoutes } from '../support/served-routes.js'
import { pathTemplate } from '../../src/http/openapi/parameters.js'

/**
 * Methods and paths of the lists, for test names. The rest comes from the document that the service
 * serves.
 */
const ROUTES = servedRoutes().map(({ method, path }) => [method, pathTemplate(path)] as const)
/** All but the endless stream, whose events test/http/routes/pages/home-feed.test.ts reads. */
const ANSWERED = ROUTES.filter(([, path]) => path !== '/ui/home/events')
/** Responses for which no part of the service is in the required state. */
const WITHOUT_SUCCESS = new Set([
  'postBackgroundWorkByKindByKeyResume',
  ...['deleteSessionsById', 'postUiAccountSessionsByIdRevoke'],
  ...['postUiOperationsWorkResume', 'getUiSignInStart', 'getUiSignInCallback'],
  // The comparison is removed before; test/e2e/editors-in-browser.test.ts opens one.
  'getUiImpactByImpactId',
  'postUiSignInBackChannel',
  ...['getPoliciesRevisionsDiff', 'postPoliciesPin', 'postPoliciesRollback', 'postPoliciesUnpin'],
  ...['postPoliciesPromote', 'postPoliciesAbandon', 'postUiOperationsStage'],
])
/** Delegations are between named people. */
const NEEDS_NAMES = new Set([
  ...['postDelegations', 'deleteDelegationsById'],
  ...['postUiAccountDelegations', 'postUiAccountDelegationsByIdRevoke'],
])
/** Done once: there is nothing left for the next role, or the first one's work still runs. */
const ONCE = new Set([
  ...['deleteExceptionsById', 'deleteDelegationsById', 'postUiAccountDelegationsByIdRevoke'],
  ...['postPoliciesImpact', 'deletePoliciesImpactByImpactId'],
])
/** Always answered with 200, because any other status is repeated without end. */
const NEVER_REFUSED = 'SpinnakerReview'

/**
 * Where 401 means that a policy denies, it is no error of the pipeline's and no page to sign in.
 */
function asksWith401(response: object | undefined): boolean {
  return response !== undefined && ('$ref' in response || JSON.stringify(response).includes('text/html'))
}

function describedBy(hasTokens: boolean) {
  let service: DescribedService | undefined
  let operations: DescribedOperation[] = []
  let problems: AnswerProblems | undefined
  let count = 0
  beforeAll(async () => {
    service = await startDescribedService(hasTokens)
    const document = objectOf(await ask(service.url, { path: '/openapi.json' }))
    operations = openApiOperations(document)
    problems = answerProblemsBy(document)
  }, 60_000)
  afterAll(() => service?.end())
  const find = (method: string, path: string): DescribedOperation => {
    const found = operations.find((each) => each.method === method && each.path === path)
    if (found === undefined) throw new Error(`${method} ${path} is not described`)
    return found
  }
  /** Sends a request to the operation and fails if the document does not describe the response. */
  const asked = async (operation: DescribedOperation, headers: Record<string, string>): Promise<Answered> => {
    if (service === undefined || problems === undefined) throw new Error('not started')
    count += 1
    const sample = sampleRequest(operation, service, count)
    const answer = await ask(service.url, { ...sample, headers: { ...sample.headers, ...headers } })
    expect([answer.status, problems(operation, answer)]).toEqual([answer.status, []])
    return answer
  }
  return { url: () => service?.url ?? '', find, asked }
}

describe('of a service with tokens, the document describes', () => {
  const { url, find, asked } = describedBy(true)

  it.each(ANSWERED)('what %s %s answers to who may ask', async (method, path) => {
    const operation = find(method, path)
    const { operationId, 'x-roles': roles } = operation.operation
    const askers = roles.filter((each) => each !== 'admin' || roles.length === 1)
    for (const role of ONCE.has(operationId) ? askers.slice(0, 1) : askers) {
      const { status, text } = await asked(operation, role === 'anyone' ? {} : asRole(role))
      const isAnswered = !WITHOUT_SUCCESS.has(operationId)
      expect({ isAnswered: status < 400, text }).toEqual({ isAnswered, text })
    }
  })

  it.each(ROUTES)('whom %s %s refuses', async (method, path) => {
    const operation = find(method, path)
    const { operationId, security, responses, 'x-roles': roles } = operation.operation
    const isRefusing = security.some((each) => 'bearer' in each) && !operationId.endsWith(NEVER_REFUSED)
    if (!isRefusing) return
    const strangers = asksWith401(responses['401']) ? 401 : 403
    expect((await asked(operation, {})).status).toBe(strangers)
    expect((await asked(operation, asRole('nobody'))).status).toBe(strangers)
    for (const role of Object.keys(BEARERS).filter((each) => !roles.includes(each)))
      expect((await asked(operation, asRole(role))).status).toBe(403)
  })

  it.each([...new Set(ROUTES.map(([, path]) => path))])('all methods of %s', async (path) => {
    const methods = ROUTES.filter((each) => each[1] === path).map(([method]) => method)
    const target = examplePath(path.replaceAll(/\{\w+\}/g, ':x'))
    const { status, headers } = await ask(url(), { method: 'PROPFIND', path: target, body: '{}' })
    const allowed = (headers.allow ?? '').split(', ').filter((method) => method !== 'HEAD')
    expect([status, allowed]).toEqual([405, methods.sort()])
  })

  it('the response to a webhook without its token', async () => {
    const operation = find('POST', '/webhooks/webhook/gitlab')
    expect((await asked(operation, { 'x-gitlab-token': 'another' })).status).toBe(403)
    expect((await asked(operation, {})).status).toBe(200)
    for (const host of ['github', 'bitbucket']) {
      const signed = find('POST', `/webhooks/git/${host}`)
      const wrong = { 'x-hub-signature': 'sha256=00', 'x-hub-signature-256': 'sha256=00' }
      expect((await asked(signed, wrong)).status).toBe(403)
    }
  })
})

describe('of a service without tokens, the document describes', () => {
  const { find, asked } = describedBy(false)

  it.each(ANSWERED)('what %s %s answers to everybody', async (method, path) => {
    const operation = find(method, path)
    const { operationId } = operation.operation
    const isBare = WITHOUT_SUCCESS.has(operationId) || NEEDS_NAMES.has(operationId)
    expect((await asked(operation, {})).status < 400).toBe(!isBare)
  })
})
