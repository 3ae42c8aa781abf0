import { z } from 'zod'

import { key } from '../values/key.js'

/**
 * Roles of callers. An admin may do everything; an instance is another service or OPA that downloads
 * bundles and reports its status.
 */
export const ROLES = ['orchestrator', 'approver', 'auditor', 'author', 'instance', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** The groups that give people each of their roles. `*` means everybody who has signed in. */
export type RoleGroups = Readonly<Record<Exclude<Role, 'instance'>, readonly string[]>>

/** Returns the keys with the groups that give each role. `who` is who has the role for `*`. */
export function roleGroupKeys(who: string) {
  const groupsWith = (role: Role) =>
    key(
      z.array(z.string().min(1)).default([]),
      `Groups whose members have the role ${role}; \`*\` is ${who}.`,
      'a list of groups',
    )
  return z
    .strictObject({
      orchestrator: groupsWith('orchestrator'),
      approver: groupsWith('approver'),
      auditor: groupsWith('auditor'),
      author: groupsWith('author'),
      admin: groupsWith('admin'),
    })
    .prefault({})
}
