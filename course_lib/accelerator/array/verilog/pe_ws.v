// A cell of a weight-stationary array: it keeps a weight, hands the operand to the right, and adds
// to the partial sum on its way down. With the operands swapped it is input-stationary.
module pe_ws #(
    parameter SECOND = 0  // a shadow register: the next weight waits behind this one
) (
    input clk,
    input signed [31:0] right_in, down_in, chain_in,
    input [3:0] control_in,
    output signed [31:0] right_out, down_out, chain_out,
    output [3:0] control_out
);
    reg signed [7:0] right = 0, stay = 0, spare = 0;
    reg signed [31:0] down = 0;
    reg [3:0] control = 0;
    wire busy = control_in[0], first = control_in[1], shift = control_in[2];
    wire signed [31:0] weight = SECOND && first ? spare : stay;

    assign right_out = right;
    assign down_out = down;
    assign control_out = control;
    assign chain_out = SECOND ? spare : stay;

    always @(posedge clk) begin
        right <= right_in;
        control <= control_in;
        down <= down_in + (busy ? right_in * weight : 0);
        stay <= weight;
        if (shift && SECOND) spare <= chain_in;
        if (shift && !SECOND) stay <= chain_in;
    end
endmodule
