import { z } from 'zod'

/** What is read of the query of a metric in a canary config of Kayenta (analysis.md 1.1). */
export const CanaryQuery = z.looseObject({
  customInlineTemplate: z.string().nullish(),
  customFilterTemplate: z.string().nullish(),
  metricName: z.string().nullish(),
  labelBindings: z.array(z.string()).nullish(),
  groupByFields: z.array(z.string()).nullish(),
})
