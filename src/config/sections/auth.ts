import { z } from 'zod'

import { key } from '../values/key.js'

/** What the bearer of a token may do. */
const ROLES = ['orchestrator', 'approver', 'auditor', 'admin'] as const
export type Role = (typeof ROLES)[number]

const Token = z.strictObject({
  name: key(
    z.string().regex(/^\S(?:.{0,98}\S)?$/),
    'Who uses the token, for the logs.',
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
  sha256: key(
    z
      .string()
      .regex(/^[0-9a-f]{64}$/i)
      .toLowerCase(),
    'The SHA-256 of the token.',
    'the 64 hex digits of the SHA-256 of the token: `tidegate hash-token` prints them',
  ),
})

/** Who may call. */
export const AuthSection = z.strictObject({
  tokens: key(
    z.array(Token).default([]),
    'Bearer tokens, each `{name, roles, sha256}` and, for the approvers of gates, `groups`: roles of `orchestrator`, `approver`, `auditor`, `admin`; the hash is printed by `tidegate hash-token`. Tokens themselves are never written down.',
    'a list of {name, roles, sha256}',
  ),
  openToOrchestrator: key(
    z.boolean().default(false),
    "Whether a request without a token may do what the role `orchestrator` may: the orchestrator's own plugins send none. Only for a port that nobody else reaches, or the loopback of its pod.",
    'true or false',
  ),
})
