import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { overallState } from './tool/commit-lookups.js'
import type { CheckState } from './tool/commit-lookups.js'
import { optionalText, shortText } from './tool/tool.js'

/** Largest page of Bitbucket. */
export const PAGE_SIZE = 100

/** Build statuses of a commit, as paged by Cloud (`next`) and Server (`isLastPage`). */
export const Builds = z.object({
  values: z.array(z.object({ state: z.string(), key: shortText, name: optionalText, url: optionalText })),
  next: z.string().nullish(),
  isLastPage: z.boolean().nullish(),
})

/** Returns the overall state of a commit's builds, and the builds that did not succeed. */
export function toBuildState({ values, next, isLastPage }: z.output<typeof Builds>): object {
  const hasMore = isLastPage === false || (next ?? null) !== null
  if (hasMore) throw new AppError('too_large', `the commit has more than ${PAGE_SIZE} builds`)
  const builds = values.map(({ state, key, name }) => ({ name: name ?? key, state: toCheckState(state) }))
  return {
    state: overallState(builds.map(({ state }) => state)),
    unfinishedChecks: builds.filter(({ state }) => state !== 'success'),
  }
}

function toCheckState(state: string): CheckState {
  if (state === 'SUCCESSFUL') return 'success'
  return state === 'INPROGRESS' ? 'pending' : 'failure'
}

interface PullRequest {
  readonly id: number
  readonly title: string
  readonly state: string
  readonly draft?: boolean | null | undefined
}

/**
 * Returns the part of a pull request that Cloud and Server share. `reviewers` are those who may
 * approve it.
 */
export function pullRequestState(
  repository: string,
  pull: PullRequest,
  reviewers: readonly { readonly approved: boolean }[] | null | undefined,
): object {
  return {
    kind: 'pullRequest',
    repository,
    number: pull.id,
    state: pull.state.toLowerCase(),
    isDraft: pull.draft ?? false,
    approvals: (reviewers ?? []).filter(({ approved }) => approved).length,
    title: pull.title,
  }
}
