import './use-full-pipeline.ts'
import '../cost-guard/settlement.test.ts'
