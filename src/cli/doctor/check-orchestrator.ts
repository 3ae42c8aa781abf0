import { z } from 'zod'

import type { Config } from '../../config/config.js'
import { toError } from '../../errors/app-error.js'
import type { ServiceAddress } from '../session/service-options.js'
import { localTime } from '../output/local-time.js'
import { count } from '../output/text-table.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const TIMEOUT_MS = 10_000
const PAGE = 'docs/guides/connect-spinnaker.md'
const OPEN =
  'the plugins send no token: set auth.openToOrchestrator, or make a proxy add one with the role orchestrator'
const NO_CERTIFICATE = 'the plugins cannot present one: unset server.tlsRequireClient, or use a proxy'

const Gate = z.object({ gateUrl: z.string() })
const Records = z.object({ records: z.array(z.object({ at: z.string() }).loose()) })
const List = z.array(z.unknown())

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

type Send = (path: string, sent?: Pick<RequestOptions, 'body' | 'origin'>) => Promise<Answer>

/**
 * The request by which a stage creates its gate (clients, 1.7 B), for a pipeline that cannot exist.
 */
const FORM = {
  path: '/dashboardservice/v4/pipelines/2147483647/gates',
  origin: 'OpsMxApprovalStagePlugin',
  body: { applicationId: '1', pipelineId: 2_147_483_647, gateName: 'doctor', gateType: 'approval' },
}

/**
 * Sends the requests of the orchestrator to the service, and those of the service to the
 * orchestrator.
 */
export async function checkOrchestrator(
  address: ServiceAddress,
  orchestrator: Config['orchestrator'],
): Promise<Finding[]> {
  const { url, shown } = address
  const send = await address.openUnknown()
  const ask: Send = (path, sent) => request(`${url}${path}`, { ...sent, send })
  const root = await attempt('service', 'start it, or pass --url', async () => {
    const { status } = await request(`${url}/`, { send: address.fetch })
    if (status !== 200) return bad('service', `GET / is ${status}`, 'the plugins want 200 there first')
    const isOpen = await ask('/').catch(() => undefined)
    return isOpen === undefined
      ? bad('service', 'requires a client certificate', NO_CERTIFICATE)
      : ok('service', `responds at ${shown}`)
  })
  if (root.state === 'bad') return [root]
  return [
    root,
    await attempt('saved pipelines', PAGE, () => checkStaticPolicies(ask)),
    await attempt('gates of stages', PAGE, () => checkStageGates(ask, address)),
    await attempt('gates of forms', PAGE, () => checkFormGates(ask)),
    ...(await checkForms(ask)),
    await attempt('pages', PAGE, () => checkPages(ask)),
    await attempt('events', PAGE, () => checkEvents(address)),
    await checkEndpoint('storage service', orchestrator.storageUrl, 'orchestrator.storageUrl'),
    await checkEndpoint('gateway', orchestrator.gateUrl, 'orchestrator.gateUrl'),
  ]
}

/** Sends front50's request. A denial counts as a valid response. */
async function checkStaticPolicies(ask: Send): Promise<Finding> {
  const subject = 'saved pipelines'
  const { status, text } = await ask('/v1/staticPolicy/eval', {
    body: { input: { new: { name: 'doctor', stages: [] } } },
  })
  if (status === 200 || status === 401)
    return ok(subject, `static policies can be evaluated without a token (${status})`)
  if (status === 403) return bad(subject, `refused: ${messageOf(text)}`, OPEN)
  return bad(subject, `${status}: ${messageOf(text)}`, 'no pipeline can be saved: load policies under static')
}

/** Sends a stage's lookup and checks that the returned URL leads to this service. */
async function checkStageGates(ask: Send, { openElsewhere }: ServiceAddress): Promise<Finding> {
  const subject = 'gates of stages'
  const path =
    '/platformservice/v6/applications/doctor/pipeline/doctor/reference/1/gates/doctor?type=verification'
  const { status, text } = await ask(path)
  if (status === 401 || status === 403) return bad(subject, `refused: ${messageOf(text)}`, OPEN)
  const { origin } = new URL(Gate.parse(JSON.parse(text)).gateUrl)
  const send = await openElsewhere()
  const reached = await request(`${origin}/livez`, { send }).catch((raw: unknown) => toError(raw))
  if (!(reached instanceof Error) && reached.status === 200)
    return ok(subject, `stages are sent to ${origin}`)
  return warning(
    subject,
    `stages are sent to ${origin}, which does not respond from this machine`,
    'set server.orchestratorUrl to an address that the orchestrator can reach',
  )
}

async function checkFormGates(ask: Send): Promise<Finding> {
  const subject = 'gates of forms'
  const { status, text } = await ask(FORM.path, FORM)
  if (status === 404) return ok(subject, 'created when a stage runs')
  if (status !== 403) return bad(subject, `${status}: ${messageOf(text)}`, PAGE)
  if (text.includes('"no_gates_from_stages"'))
    return warning(subject, 'not created: choices in stage forms have no effect', 'set gates.fromStages')
  return bad(subject, `refused: ${messageOf(text)}`, OPEN)
}

async function checkForms(ask: Send): Promise<Finding[]> {
  const forms = [
    ['runtime policies', '/oes/v2/policy/users/doctor/runtime', 'load a policy that is not static'],
    ['environments', '/oes/accountsConfig/spinnaker/environments', 'list them in gates.environments'],
    ['groups', '/platformservice/v2/usergroups', 'add groups to tokens in auth.tokens'],
  ] as const
  return await Promise.all(
    forms.map(([what, path, advice]) => {
      const subject = `forms, ${what}`
      return attempt(subject, PAGE, async () => {
        const { status, text } = await ask(path)
        if (status !== 200) return bad(subject, `${status}: ${messageOf(text)}`, OPEN)
        const { length } = List.parse(JSON.parse(text))
        return length > 0 ? ok(subject, count(length, 'choice')) : warning(subject, 'no choices', advice)
      })
    }),
  )
}

async function checkPages(ask: Send): Promise<Finding> {
  const { headers } = await ask('/ui/sign-in')
  const framed = /frame-ancestors ([^;]+)/.exec(headers.get('content-security-policy') ?? '')?.[1]
  if (framed !== undefined && framed !== "'none'") return ok('pages', `can be embedded by ${framed}`)
  return warning(
    'pages',
    "cannot be embedded, but the orchestrator's UI shows them in a frame",
    'add its origin to server.frameAncestors',
  )
}

async function checkEvents({ url, token, fetch: send }: ServiceAddress): Promise<Finding> {
  const path = `${url}/audit?source=event&limit=1`
  const { status, text } = await request(path, { token, send })
  if (status !== 200) return warning('events', `not checked (${status})`, 'give the token of an auditor')
  const [newest] = Records.parse(JSON.parse(text)).records
  if (newest !== undefined) return ok('events', `last event at ${localTime(newest.at)}`)
  return warning('events', 'none has come', "set rest.enabled and rest.endpoints of the orchestrator's echo")
}

async function checkEndpoint(subject: string, base: string | undefined, key: string): Promise<Finding> {
  if (base === undefined) {
    return warning(
      subject,
      'not named',
      `set ${key}; without it, changes made outside the UI are not noticed`,
    )
  }
  return await attempt(subject, `set ${key} to an address that this machine can reach`, async () => {
    const { status } = await request(`${base.replace(/\/+$/, '')}/health`)
    const isThere = status < 500
    return isThere
      ? ok(subject, `responds at ${base}`)
      : bad(subject, `${base} answers ${status}`, `check it, or ${key}`)
  })
}

interface RequestOptions {
  readonly body?: unknown
  /** Origin header, which contains the plugin's name. */
  readonly origin?: string
  readonly token?: string | undefined
  readonly send?: ServiceAddress['fetch']
}

async function request(
  target: string,
  { body, origin, token, send = fetch }: RequestOptions = {},
): Promise<Answer> {
  const response = await send(target, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(origin !== undefined && { origin }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new Error(`${new URL(target).origin} does not respond`, { cause })
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

function messageOf(text: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(text)).message
  } catch {
    return 'not a response of this service'
  }
}
