import { z } from 'zod'

import type { Config } from '../../config/config.js'
import { toError } from '../../errors/app-error.js'
import type { ServiceAddress } from '../session/service-options.js'
import { localTime } from '../output/local-time.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const TIMEOUT_MS = 10_000
const PAGE = 'docs/guides/connect-spinnaker.md'
const OPEN =
  'the plugins send no token: set auth.openToOrchestrator, or have a proxy add one of the role orchestrator'
const NO_CERTIFICATE =
  'the plugins cannot show one: leave server.tlsRequireClient out, or have a proxy in between'

const Gate = z.object({ gateUrl: z.string() })
const Records = z.object({ records: z.array(z.object({ at: z.string() }).loose()) })
const List = z.array(z.unknown())

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

type Ask = (path: string, sent?: Pick<Asked, 'body' | 'origin'>) => Promise<Answer>

/** What a stage posts when it runs, to have its gate made of its form (clients, 1.7 B), for a pipeline that there never is. */
const FORM = {
  path: '/dashboardservice/v4/pipelines/2147483647/gates',
  origin: 'OpsMxApprovalStagePlugin',
  body: { applicationId: '1', pipelineId: 2_147_483_647, gateName: 'doctor', gateType: 'approval' },
}

/** Asks each side as the other does. */
export async function lookAtOrchestrator(
  address: ServiceAddress,
  orchestrator: Config['orchestrator'],
): Promise<Finding[]> {
  const { url, shown } = address
  const send = await address.openUnknown()
  const ask: Ask = (path, sent) => request(`${url}${path}`, { ...sent, send })
  const root = await attempt('service', 'start it, or name it with --url', async () => {
    const { status } = await request(`${url}/`, { send: address.fetch })
    if (status !== 200) return bad('service', `GET / is ${status}`, 'the plugins want 200 there first')
    const isOpen = await ask('/').catch(() => undefined)
    return isOpen === undefined
      ? bad('service', 'answers only who shows a certificate', NO_CERTIFICATE)
      : ok('service', `answers at ${shown}`)
  })
  if (root.state === 'bad') return [root]
  return [
    root,
    await attempt('saved pipelines', PAGE, () => lookAtStatic(ask)),
    await attempt('gates of stages', PAGE, () => lookAtLookup(ask, address)),
    await attempt('gates of forms', PAGE, () => lookAtMaking(ask)),
    ...(await lookAtForms(ask)),
    await attempt('pages', PAGE, () => lookAtPages(ask)),
    await attempt('events', PAGE, () => lookAtEvents(address)),
    await lookAtSide('storage service', orchestrator.storageUrl, 'orchestrator.storageUrl'),
    await lookAtSide('gateway', orchestrator.gateUrl, 'orchestrator.gateUrl'),
  ]
}

/** As front50 asks; a denial is an answer as good as another. */
async function lookAtStatic(ask: Ask): Promise<Finding> {
  const subject = 'saved pipelines'
  const { status, text } = await ask('/v1/staticPolicy/eval', {
    body: { input: { new: { name: 'doctor', stages: [] } } },
  })
  if (status === 200 || status === 401)
    return ok(subject, `static policies are asked without a token (${status})`)
  if (status === 403) return bad(subject, `refused: ${messageOf(text)}`, OPEN)
  return bad(subject, `${status}: ${messageOf(text)}`, 'no pipeline can be saved: load policies below static')
}

/** As a stage asks where it is sent; the URL must lead here. */
async function lookAtLookup(ask: Ask, { openElsewhere }: ServiceAddress): Promise<Finding> {
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
    `stages are sent to ${origin}, which does not answer from here`,
    'set server.orchestratorUrl to what the orchestrator reaches',
  )
}

async function lookAtMaking(ask: Ask): Promise<Finding> {
  const subject = 'gates of forms'
  const { status, text } = await ask(FORM.path, FORM)
  if (status === 404) return ok(subject, 'are made when a stage runs')
  if (status !== 403) return bad(subject, `${status}: ${messageOf(text)}`, PAGE)
  if (text.includes('"no_gates_from_stages"'))
    return warning(subject, 'are not made: what is chosen in a form does nothing', 'set gates.fromStages')
  return bad(subject, `refused: ${messageOf(text)}`, OPEN)
}

async function lookAtForms(ask: Ask): Promise<Finding[]> {
  const forms = [
    ['runtime policies', '/oes/v2/policy/users/doctor/runtime', 'load a policy that is not static'],
    ['environments', '/oes/accountsConfig/spinnaker/environments', 'list some in gates.environments'],
    ['groups', '/platformservice/v2/usergroups', 'give tokens groups in auth.tokens'],
  ] as const
  return await Promise.all(
    forms.map(([what, path, advice]) => {
      const subject = `forms, ${what}`
      return attempt(subject, PAGE, async () => {
        const { status, text } = await ask(path)
        if (status !== 200) return bad(subject, `${status}: ${messageOf(text)}`, OPEN)
        const { length } = List.parse(JSON.parse(text))
        return length > 0
          ? ok(subject, `${length} to choose from`)
          : warning(subject, 'nothing to choose from', advice)
      })
    }),
  )
}

async function lookAtPages(ask: Ask): Promise<Finding> {
  const { headers } = await ask('/ui/sign-in')
  const framed = /frame-ancestors ([^;]+)/.exec(headers.get('content-security-policy') ?? '')?.[1]
  if (framed !== undefined && framed !== "'none'") return ok('pages', `may be framed by ${framed}`)
  return warning(
    'pages',
    'may be framed by nobody, and the interface shows them in a frame',
    'list its origin in server.frameAncestors',
  )
}

async function lookAtEvents({ url, token, fetch: send }: ServiceAddress): Promise<Finding> {
  const path = `${url}/audit?source=event&limit=1`
  const { status, text } = await request(path, { token, send })
  if (status !== 200) return warning('events', `not looked at (${status})`, 'give the token of an auditor')
  const [newest] = Records.parse(JSON.parse(text)).records
  if (newest !== undefined) return ok('events', `the last one is of ${localTime(newest.at)}`)
  return warning('events', 'none has come', "set rest.enabled and rest.endpoints of the orchestrator's echo")
}

async function lookAtSide(subject: string, base: string | undefined, key: string): Promise<Finding> {
  if (base === undefined) {
    return warning(
      subject,
      'not named',
      `set ${key}: what is saved past the interface is not seen without it`,
    )
  }
  return await attempt(subject, `name it in ${key}, as this machine reaches it`, async () => {
    const { status } = await request(`${base.replace(/\/+$/, '')}/health`)
    const isThere = status < 500
    return isThere
      ? ok(subject, `answers at ${base}`)
      : bad(subject, `${base} answers ${status}`, `look at it, or at ${key}`)
  })
}

interface Asked {
  readonly body?: unknown
  /** The plugin that asks: stages put its name there. */
  readonly origin?: string
  readonly token?: string | undefined
  readonly send?: ServiceAddress['fetch']
}

async function request(target: string, { body, origin, token, send = fetch }: Asked = {}): Promise<Answer> {
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
    throw new Error(`${new URL(target).origin} does not answer`, { cause })
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

function messageOf(text: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(text)).message
  } catch {
    return 'it is no answer of this service'
  }
}
