# SPDX-License-Identifier: Apache-2.0
"""What a manifest has done with every call: log, time, and results that are too large (S3.20, S5.4)."""

from mcp import HubTest, fixture, main


def large(count):
    return {"text": "é" * count}


class Middleware(HubTest):
    def test_a_large_result_is_cut_between_characters(self):
        toolsets = {"alpha": fixture("one", middleware={"max_result_bytes": "2KiB"}), "beta": fixture("one")}
        client = self.modern(toolsets=toolsets)
        answer = client.call("alpha__one", large(5000))
        self.assertLessEqual(len(answer.slice("result")), 2048 + 64)  # and what the hub adds to a modern result
        texts = [item["text"] for item in answer.result["content"]]
        self.assertEqual(texts[0], "fixture")
        self.assertIn("results.max_bytes", texts[-1])
        self.assertIn("structuredContent", texts[-1])
        self.assertNotIn("structuredContent", answer.result)
        whole = client.call("beta__one", large(5000)).result
        self.assertEqual(whole["structuredContent"]["arguments"], large(5000))

    def test_the_hub_says_it_for_all_and_a_toolset_for_itself(self):
        toolsets = {"alpha": fixture("one"), "beta": fixture("one", middleware={"time": False})}
        client = self.modern(toolsets=toolsets, manifest={"hub": {"middleware": {"time": True, "log": True}}})
        meta = client.call("alpha__one").result["_meta"]
        self.assertGreaterEqual(meta["patchbay/duration_ms"], 0)
        self.assertNotIn("patchbay/duration_ms", client.call("beta__one", {"canary": 1}).result.get("_meta", {}))
        for toolset in ("alpha", "beta"):
            client.hub.wait_log(f"call.ended toolset={toolset} method=tools/call name=one")
        self.assertNotIn("canary", client.hub.log)


if __name__ == "__main__":
    main()
