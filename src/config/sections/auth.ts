import { z } from 'zod'

import { parseSubject } from '../values/certificate-subject.js'
import { key } from '../values/key.js'

/** What the bearer of a token may do. */
const ROLES = ['orchestrator', 'approver', 'auditor', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Who somebody is that shows a credential, and what they may do. */
const bearer = {
  name: key(
    z.string().regex(/^\S(?:.{0,98}\S)?$/),
    'Who uses the token or certificate, for the logs.',
    'a name of 1 to 100 characters that neither starts nor ends with a space',
  ),
  roles: key(
    z.array(key(z.enum(ROLES), 'A role.', `one of ${ROLES.join(', ')}`)).min(1),
    'What the bearer may do.',
    `a list of at least one of ${ROLES.join(', ')}`,
  ),
  groups: key(
    z.array(z.string().min(1)).default([]),
    'The groups that the bearer belongs to, for the approvers of gates.',
    'a list of names',
  ),
}

const Token = z.strictObject({
  ...bearer,
  sha256: key(
    z
      .string()
      .regex(/^[0-9a-f]{64}$/i)
      .toLowerCase(),
    'The SHA-256 of the token.',
    'the 64 hex digits of the SHA-256 of the token: `tidegate hash-token` prints them',
  ),
})

const Certificate = z
  .strictObject({
    ...bearer,
    subject: key(
      z
        .string()
        .refine((text) => parseSubject(text) !== undefined)
        .optional(),
      'What the subject of the certificate says: each part that is named here must be there with this very value. A comma in a value is written `\\,`.',
      'parts such as CN=echo, O=Example',
    ),
    san: key(
      z
        .string()
        .regex(/^(?:DNS|URI|email|IP):\S+$/)
        .optional(),
      'One of the alternative names of the certificate.',
      'DNS:NAME, URI:URI, email:ADDRESS or IP:ADDRESS',
    ),
  })
  .refine(({ subject, san }) => subject !== undefined || san !== undefined)

/** Who may call. */
export const AuthSection = z.strictObject({
  tokens: key(
    z.array(Token).default([]),
    'Bearer tokens, each `{name, roles, sha256}` and, for the approvers of gates, `groups`: roles of `orchestrator`, `approver`, `auditor`, `admin`; the hash is printed by `tidegate hash-token`. Tokens themselves are never written down.',
    'a list of {name, roles, sha256}',
  ),
  certificates: key(
    z
      .array(
        key(
          Certificate,
          'A certificate.',
          '{name, roles, subject} or {name, roles, san}, with at least one of subject and san',
        ),
      )
      .default([]),
    'Client certificates that stand for a token, each `{name, roles, subject, san}` and, for the approvers of gates, `groups`: `subject` such as `CN=echo, O=Example` is the whole subject of the certificate, with its parts in any order, `san` such as `DNS:echo.spinnaker` or `URI:spiffe://…`; where both are given both must fit, and the first entry that fits counts. They must be signed by `server.tlsClientCa`.',
    'a list of {name, roles, subject, san}',
  ),
  openToOrchestrator: key(
    z.boolean().default(false),
    "Whether a request without a token may do what the role `orchestrator` may: the orchestrator's own plugins send none. Only for a port that nobody else reaches, or the loopback of its pod.",
    'true or false',
  ),
})
