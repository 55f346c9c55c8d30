import './use-full-pipeline.ts'
import '../cost-guard/refusals.test.ts'
