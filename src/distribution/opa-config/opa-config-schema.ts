import { z } from 'zod'

/** Credentials of a service. Several kinds exclude each other. */
const Credentials = z.looseObject({
  bearer: z
    .looseObject({
      token: z.string().optional(),
      token_path: z.string().optional(),
      scheme: z.string().default('Bearer'),
    })
    .optional(),
  client_tls: z.looseObject({ cert: z.string(), private_key: z.string() }).optional(),
  oauth2: z
    .looseObject({
      grant_type: z.string().default('client_credentials'),
      token_url: z.string(),
      client_id: z.string().default(''),
      client_secret: z.string().default(''),
      scopes: z.array(z.string()).default([]),
    })
    .optional(),
  s3_signing: z
    .looseObject({
      service: z.string().default('s3'),
      environment_credentials: z.looseObject({}).nullish(),
      metadata_credentials: z
        .looseObject({ aws_region: z.string().optional(), iam_role: z.string().optional() })
        .nullish(),
      web_identity_credentials: z
        .looseObject({
          aws_region: z.string().optional(),
          session_name: z.string().default('open-policy-agent'),
        })
        .nullish(),
    })
    .optional(),
})
export type OpaCredentials = z.output<typeof Credentials>

const Service = z.looseObject({
  name: z.string().optional(),
  url: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  credentials: Credentials.default({}),
  tls: z.looseObject({ ca_cert: z.string().optional() }).default({}),
  response_header_timeout_seconds: z.number().positive().default(10),
  type: z.string().optional(),
})
export type OpaService = z.output<typeof Service>

const Polling = z.looseObject({
  min_delay_seconds: z.number().positive().optional(),
  max_delay_seconds: z.number().positive().optional(),
  long_polling_timeout_seconds: z.number().positive().optional(),
})
export type OpaPolling = z.output<typeof Polling>

const Bundle = z.looseObject({
  service: z.string().optional(),
  resource: z.string().optional(),
  polling: Polling.default({}),
  signing: z
    .looseObject({
      keyid: z.string().optional(),
      scope: z.string().optional(),
      exclude_files: z.array(z.string()).default([]),
    })
    .optional(),
  persist: z.boolean().optional(),
})
export type OpaBundle = z.output<typeof Bundle>

const Key = z.looseObject({
  key: z.string().default(''),
  algorithm: z.string().default('RS256'),
  scope: z.string().default(''),
})

const named = <T extends z.ZodType>(schema: T) => z.record(z.string(), schema)

/** The members of OPA's configuration file that are read, with OPA's defaults. */
export const OpaConfigFile = z.looseObject({
  services: z.union([named(Service), z.array(Service)]).default({}),
  bundles: named(Bundle).default({}),
  keys: named(Key).default({}),
  labels: named(z.string()).default({}),
  default_decision: z.string().optional(),
  default_authorization_decision: z.string().optional(),
  decision_logs: z
    .looseObject({ mask_decision: z.string().optional(), drop_decision: z.string().optional() })
    .nullish(),
  discovery: Bundle.extend({
    name: z.string().optional(),
    prefix: z.string().default('bundles'),
    decision: z.string().optional(),
  }).nullish(),
  status: z
    .looseObject({
      service: z.string().optional(),
      partition_name: z.string().default(''),
      resource: z.string().optional(),
    })
    .nullish(),
})
export type OpaConfigFile = z.output<typeof OpaConfigFile>

interface Known {
  readonly [name: string]: Known | true
}

const CREDENTIALS: Known = {
  bearer: { token: true, token_path: true, scheme: true },
  client_tls: { cert: true, private_key: true },
  oauth2: { grant_type: true, token_url: true, client_id: true, client_secret: true, scopes: true },
  s3_signing: {
    service: true,
    environment_credentials: true,
    metadata_credentials: { aws_region: true, iam_role: true },
    web_identity_credentials: { aws_region: true, session_name: true },
  },
}
const BUNDLE: Known = {
  service: true,
  resource: true,
  persist: true,
  polling: { min_delay_seconds: true, max_delay_seconds: true, long_polling_timeout_seconds: true },
  signing: { keyid: true, scope: true, exclude_files: true },
}
/** The members that have an effect. `*` is any name. */
const KNOWN: Known = {
  services: {
    '*': {
      name: true,
      url: true,
      headers: true,
      type: true,
      response_header_timeout_seconds: true,
      tls: { ca_cert: true },
      credentials: CREDENTIALS,
    },
  },
  bundles: { '*': BUNDLE },
  discovery: { ...BUNDLE, name: true, prefix: true, decision: true },
  keys: { '*': { key: true, algorithm: true, scope: true } },
  labels: true,
  default_decision: true,
  default_authorization_decision: true,
  decision_logs: { mask_decision: true, drop_decision: true },
  status: { service: true, partition_name: true, resource: true },
}

/** Returns the paths of members without an effect, such as `services.acmecorp.tls.system_ca_required`. */
export function unsupportedMembers(value: unknown, known: Known | true = KNOWN, path = ''): string[] {
  if (known === true || typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const here = path === '' ? name : `${path}.${name}`
    const next = Object.hasOwn(known, name) ? known[name] : known['*']
    return next === undefined ? [here] : unsupportedMembers(member, next, here)
  })
}
